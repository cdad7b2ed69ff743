"""Heads switched off or scaled, and what that changes."""
