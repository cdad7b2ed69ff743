from random import Random

import pytest

from core.corpus.recipe.exchange import Exchange
from core.errors import UserError

MEN = Exchange(words=("Tom", "John=Johannes", "John"), by=("Paul",))


def test_a_name_goes_on_both_sides_with_its_genitive() -> None:
    pair = MEN.apply("Tom's dog likes Tom.", "Toms Hund mag Tom.", Random(1))
    assert pair == ("Paul's dog likes Paul.", "Pauls Hund mag Paul.")


def test_after_an_s_the_genitive_is_an_apostrophe() -> None:
    to_max = Exchange(words=("Tom",), by=("Max",))
    assert to_max.apply("Tom's car", "Toms Auto", Random(1)) == ("Max's car", "Max' Auto")
    from_max = Exchange(words=("Max",), by=("Tom",))
    assert from_max.apply("Max's car", "Max' Auto", Random(1)) == ("Tom's car", "Toms Auto")
    assert from_max.apply("Max slept.", "Max schlief.", Random(1)) == ("Tom slept.", "Tom schlief.")


def test_names_that_differ_between_the_languages() -> None:
    cities = Exchange(words=("Boston",), by=("Cologne=Köln",))
    assert cities.apply("in Boston", "in Boston", Random(1)) == ("in Cologne", "in Köln")
    assert MEN.apply("John sings.", "Johannes singt.", Random(1)) == ("Paul sings.", "Paul singt.")
    assert MEN.apply("John sings.", "John singt.", Random(1)) == ("Paul sings.", "Paul singt.")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Tom sings.", "Er singt."),
        ("He sings.", "Tom singt."),
        ("Tommy sings.", "Tommy singt."),
        ("Tom sings on a Tomtom.", "Der Tomtom singt."),
        ("Tom likes Paul.", "Tom mag Paul."),  # the only one there is to come
    ],
)
def test_otherwise_a_pair_stays(source: str, target: str) -> None:
    assert MEN.apply(source, target, Random(1)) == (source, target)


def test_two_words_become_two_others() -> None:
    days = ("Monday=Montag", "Tuesday=Dienstag", "Friday=Freitag", "Sunday=Sonntag")
    german = dict(day.split("=") for day in days)
    exchange = Exchange(words=days, by=days)
    seen = set()
    for seed in range(30):
        source, target = exchange.apply(
            "from Monday to Friday", "von Montag bis Freitag", Random(seed)
        )
        _, first, _, second = source.split()
        assert target == f"von {german[first]} bis {german[second]}"
        seen.add((first, second))
    assert seen == {("Tuesday", "Sunday"), ("Sunday", "Tuesday")}


def test_a_share_is_kept() -> None:
    exchange = Exchange(words=("Tom",), by=("Paul",), keep=0.25)
    random = Random(1)
    kept = sum(exchange.apply("Tom", "Tom", random)[0] == "Tom" for _ in range(2_000))
    assert 0.2 < kept / 2_000 < 0.3


def test_masked_sentences_differ_in_more_than_names() -> None:
    assert MEN.masked("Tom and John saw Paul.") == MEN.masked("Paul and Tom saw John.")
    assert MEN.masked("Tom sings.") != MEN.masked("Tomato sings.")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"words": (), "by": ("Paul",)}, "words = "),
        ({"words": ("Tom",), "by": ()}, "by = "),
        ({"words": ("Tom",), "by": ("Paul",), "keep": 1.0}, "keep = 1.0"),
    ],
)
def test_impossible_ones(values: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Exchange(**values)
