from __future__ import annotations

import pytest

from core.training import known_words
from core.training.known_words import KnownWords


def test_the_most_frequent_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_words, "MOST_LISTED", 3)
    words = KnownWords()
    words.add(["The dog, the cat.", "A dog didn't 12 times"])
    words.add(["THE dog didn't"])
    seen = words.seen()
    assert seen.known == {"didn't", "dog", "the"}
    assert seen.rare == {"didn't": 2, "dog": 3, "the": 3}


def test_words_seen_often_have_no_count() -> None:
    words = KnownWords()
    words.add(["often"] * 19 + ["seldom"] * 18)
    assert words.seen().rare == {"often": 19, "seldom": 18}
    words.add(["Often seldom"])
    assert words.seen().rare == {"seldom": 19}


def test_a_text_can_stand_for_several() -> None:
    words = KnownWords()
    words.add(["one two two"], times=3)
    words.add(["two"])
    assert words.seen().rare == {"one": 3, "two": 7}


def test_counting_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_words, "MOST_LISTED", 2)
    monkeypatch.setattr(known_words, "_MOST_COUNTED", 40)
    words = KnownWords()
    for number in range(100):
        rare = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        words.add([f"frequent often frequent x{rare}"])
        assert len(words._counts) <= 41
    assert words.seen().known == {"frequent", "often"}
