import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_viz.training.changes import changed_spans

TEXTS = st.lists(st.sampled_from(["ein", "Tier", "war", "müde."]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("Das Tier war müde.", "Das Tier war müde.", []),
        ("Das Tier war weit.", "Das Tier war müde.", ["müde."]),
        ("Das war.", "Das alte Tier war.", ["alte Tier"]),
        ("Das alte Tier war.", "Das war.", []),
        ("", "Das  Tier.", ["Das  Tier."]),
        ("Das Tier.", "", []),
        ("a b c", "x b y", ["x", "y"]),
    ],
)
def test_new_words_are_marked(before: str, after: str, changed: list[str]) -> None:
    assert [after[start:end] for start, end in changed_spans(before, after)] == changed


@given(TEXTS, TEXTS)
def test_what_is_not_marked_stood_there_before(before: str, after: str) -> None:
    rest = after
    for start, end in reversed(changed_spans(before, after)):
        rest = rest[:start] + rest[end:]
    words = iter(before.split())
    assert all(word in words for word in rest.split())  # in this order
