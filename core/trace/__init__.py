"""The recorded attention of one pass, and what can be computed from it."""
