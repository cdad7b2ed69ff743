"""Lessons as files, the questions in them, and what a model answers."""
