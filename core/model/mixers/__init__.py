"""Layers that take the place of self-attention: what it replaced, and what came after it."""
