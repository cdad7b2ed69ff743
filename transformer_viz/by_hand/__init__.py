"""The By hand view: attention on numbers of one's own."""
