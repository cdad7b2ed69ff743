"""Bundled data: models, samples, icons."""
