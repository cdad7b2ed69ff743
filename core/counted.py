"""Numbers with their nouns, singular or plural."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 token" and "1,500 tokens"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
