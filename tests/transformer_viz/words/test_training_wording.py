import pytest

from transformer_viz.words.training_wording import byte_size, duration, quantity


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (3_569, "59 min"),
        (3_600, "1 h"),
        (12_000, "3 h 20 min"),
        (172_800, "2 d"),
        (187_200, "2 d 4 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        *((0, "0"), (812, "812"), (999, "999"), (1_000, "1.00 k"), (62_000, "62.0 k")),
        *((999_600, "1.00 M"), (63_082_496, "63.1 M"), (214_245_376, "214 M")),
    ],
)
def test_quantities_have_three_digits(count: int, words: str) -> None:
    assert quantity(count) == words


def test_bytes_have_a_unit() -> None:
    assert byte_size(512) == "512 B"
    assert byte_size(24_600_000_000) == "24.6 GB"
