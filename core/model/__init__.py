"""The Transformer of "Attention Is All You Need"."""
