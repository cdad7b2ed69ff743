"""The text that is typed, its translation, and what speaks against it."""
