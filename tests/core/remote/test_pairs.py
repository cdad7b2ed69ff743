import pytest

from core.remote.pairs import PAIRS, repository_of


def test_pairs_by_name_and_any_other() -> None:
    assert PAIRS["en-de"].target == "German"
    assert repository_of("en-de") == "Helsinki-NLP/opus-mt-en-de"
    assert repository_of("en-tr") == "Helsinki-NLP/opus-mt-tc-big-en-tr"
    assert repository_of("ty-es") == "Helsinki-NLP/opus-mt-ty-es"
    assert repository_of("Helsinki-NLP/opus-mt-en-de") == "Helsinki-NLP/opus-mt-en-de"


@pytest.mark.parametrize(
    "name", ["", "german", "en-de/x/y", "../..", "a/..", "en de", "http://x/y"]
)
def test_what_is_no_name(name: str) -> None:
    assert repository_of(name) is None


def test_the_list_has_each_pair_once_english_first() -> None:
    names = list(PAIRS)
    assert len(names) > 200
    assert names[0].startswith("en-")
    assert all(source != target for source, _, target in (name.partition("-") for name in names))
    assert {pair.repository for pair in PAIRS.values()} >= {"Helsinki-NLP/opus-mt-mul-en"}
