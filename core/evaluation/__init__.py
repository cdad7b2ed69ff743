"""Scores against references and against gold annotations."""
