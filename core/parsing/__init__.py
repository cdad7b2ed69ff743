"""Constituency parsing as translation: trees, their linear form, and how parses are scored."""
