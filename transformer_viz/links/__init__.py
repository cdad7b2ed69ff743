"""The Links view."""
