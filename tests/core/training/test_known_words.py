from __future__ import annotations

import pytest

from core.training import known_words
from core.training.known_words import KnownWords


def test_the_most_frequent_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_words, "KNOWN_WORDS", 3)
    words = KnownWords()
    words.add(["The dog, the cat.", "A dog didn't 12 times"])
    words.add(["THE dog didn't"])
    assert words.words() == ["didn't", "dog", "the"]


def test_counting_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_words, "KNOWN_WORDS", 2)
    monkeypatch.setattr(known_words, "_MOST_COUNTED", 40)
    words = KnownWords()
    for number in range(100):
        rare = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        words.add([f"frequent often frequent x{rare}"])
        assert len(words._counts) <= 41
    assert words.words() == ["frequent", "often"]
