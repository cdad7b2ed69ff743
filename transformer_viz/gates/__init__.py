"""Heads switched off, scaled or made even, and what that changes."""
