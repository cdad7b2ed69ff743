from dataclasses import dataclass, field

import pytest

from core.trace.trace import AttentionKind
from transformer_viz.state.checks import (
    boolean,
    number,
    of_type,
    one_of,
    record,
    sequence,
    string,
    whole,
)
from transformer_viz.state.options import Scale, ViewOptions
from transformer_viz.state.selection import Selection


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (string, 3),
        (boolean, 1),
        (one_of(Scale), "pink"),
        (one_of(Scale), ["row"]),
        (whole(0, 3), True),
        (whole(0, 3), 4),
        (whole(0, 3), 1.0),
        (number(0, 1), float("nan")),
        (number(0, 1), "0.5"),
        (number(0, 1), True),
        (sequence(string, [2]), ["a"]),
        (sequence(string, [2]), "ab"),
        (sequence(string, [1]), [None]),
        (of_type(int), -1),
        (of_type(int | None), "1"),
    ],
)
def test_a_wrong_value_is_refused(check, value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        check(value)


def test_a_selection_comes_back_from_json() -> None:
    value = {"kind": "cross", "layer": 2, "query": None, "others": [[1, 0]], "pins": [[3, None]]}
    assert record(Selection)(value) == Selection(
        kind=AttentionKind.CROSS, layer=2, others=((1, 0),), pins=((3, None),)
    )


def test_options_come_back_from_json() -> None:
    check = record(ViewOptions, links_mass=number(0, 1))
    options = check({"scale": "log", "threshold": 0, "merge_words": True})
    assert options == ViewOptions(scale=Scale.LOG, merge_words=True)
    assert type(options.threshold) is float
    with pytest.raises(ValueError, match="links_mass: a number from 0 to 1"):
        check({"links_mass": 2})


@dataclass
class Point:
    x: int
    tags: tuple[str, ...] = ()


@dataclass
class Line:
    start: Point
    names: list[str] = field(default_factory=list)


def test_the_error_names_the_field_inside_the_field() -> None:
    check = record(Point)
    assert check({"x": 2, "tags": ["a", "b"]}) == Point(2, ("a", "b"))
    for value, said in (
        ([], "an object"),
        ({}, "an object with all its fields"),
        ({"x": 1, "y": 2}, "no field 'y'"),
        ({"x": 1, "tags": ["a", 2]}, "tags: a text"),
    ):
        with pytest.raises(ValueError, match=said):
            check(value)
    with pytest.raises(ValueError, match="start: x: a whole number"):
        record(Line, names=sequence(string, range(3)))({"start": {"x": "1"}})
