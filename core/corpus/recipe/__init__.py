"""Corpora made ready for training, as a recipe says: cleaned, varied and weighted."""
