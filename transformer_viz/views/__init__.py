"""One file per panel that a user sees."""
