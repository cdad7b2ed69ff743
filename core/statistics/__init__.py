"""The statistics of attention: one registry, computed with NumPy and, over a corpus, with torch."""
