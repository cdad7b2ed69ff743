"""The Transformer and everything around it that needs no window."""
