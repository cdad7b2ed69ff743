from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.checkpoints.provenance import checked
from core.text import seen_words
from core.text.seen_words import OFTEN, SeenWords, UnsureWord

words = st.text("abcäß'", min_size=1, max_size=6)
counts = st.dictionaries(words, st.integers(1, OFTEN - 1), max_size=8)


@given(counts, st.sets(words, min_size=1, max_size=8))
def test_what_a_file_says_is_what_was_counted(rare: dict[str, int], often: set[str]) -> None:
    seen = SeenWords(frozenset(often | rare.keys()), rare)
    kept, left_out = checked(json.loads(json.dumps(seen.to_provenance())))
    assert left_out == ()
    assert SeenWords.of_model(kept) == seen


def test_words_of_one_count_share_one_text() -> None:
    seen = SeenWords(
        frozenset({"the", "otter", "weasel", "elk"}), {"weasel": 3, "elk": 1, "otter": 3}
    )
    assert seen.to_provenance() == {
        "known_words": ["elk", "otter", "the", "weasel"],
        "rare_words": {"1": "elk", "3": "otter weasel"},
    }


def test_unsure_words_are_those_never_or_rarely_seen() -> None:
    seen = SeenWords(frozenset({"the", "otter", "didn't"}), {"otter": 3})
    assert list(seen.unsure("The Otter didn't see 7 lynxes.")) == [
        UnsureWord("otter", 4, 9, 3),
        UnsureWord("see", 17, 20, 0),
        UnsureWord("lynxes", 23, 29, 0),
    ]


def test_a_file_without_counts_tells_known_from_unknown_only() -> None:
    seen = SeenWords.of_model({"known_words": ["the", "otter"]})
    assert seen is not None
    assert [word.word for word in seen.unsure("the otter sleeps")] == ["sleeps"]
    assert SeenWords.of_model({}) is None
    assert SeenWords.of_model({"known_words": [], "rare_words": {"1": "a"}}) is None


def test_a_full_list_does_not_say_that_a_word_was_never_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seen_words, "MOST_LISTED", 2)
    assert SeenWords(frozenset({"the"})).is_complete
    assert not SeenWords(frozenset({"the", "a"})).is_complete
