"""The statistics of a head as the window names, explains, prints and ranks them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.trace.statistics import HeadStatistics
from core.trace.trace import Head, Trace
from transformer_viz.drawing.labels import display_text, isolated


@dataclass(frozen=True, slots=True)
class Measure:
    """A statistic by which heads can be ranked.

    Attributes:
        id: its name in `ViewOptions.order`.
        value: None where the kind of attention has no such statistic.
        lowest_first: how heads are ranked by it.
    """

    id: str
    name: str
    formula: str
    value: Callable[[HeadStatistics], float | None]
    digits: int = 2
    unit: str = ""
    lowest_first: bool = False

    @property
    def ranking(self) -> str:
        return f"{self.name}, {'lowest' if self.lowest_first else 'highest'} first"

    def number(self, statistics: HeadStatistics) -> str:
        """The bare number; a dash where there is none."""
        value = self.value(statistics)
        return "–" if value is None else f"{value:.{self.digits}f}"

    def spread(self, statistics: Sequence[HeadStatistics]) -> str:
        """Describe several heads of one kind: the mean, the least and the greatest."""
        values = [value for value in map(self.value, statistics) if value is not None]
        if not values:
            return "–"
        mean = sum(values) / len(values)
        digits = self.digits
        return f"{mean:.{digits}f}  ({min(values):.{digits}f} – {max(values):.{digits}f})"

    def text(self, statistics: HeadStatistics, trace: Trace, head: Head) -> str:
        """Format the number of one head, with unit and limit."""
        number = self.number(statistics)
        if self.value(statistics) is None:
            return number
        if self.id == "entropy":
            return f"{number} of {statistics.entropy_limit:.2f} bits"
        if self.id == "sink":
            key = trace.key_tokens(head.kind)[statistics.sink_key]
            return f"{isolated(display_text(key))} {number}"
        return f"{number} {self.unit}".rstrip()


def _offset(index: int) -> Callable[[HeadStatistics], float | None]:
    return lambda s: None if s.offset_shares is None else s.offset_shares[index]


_OFFSET = "Mean weight on the {} position, over the queries that have one (Clark et al. 2019).\n"
_SELF_ONLY = "Only for self-attention: source and target positions cannot be compared."

MEASURES = (
    Measure(
        "entropy",
        "entropy",
        "Mean over the queries of −Σⱼ A log₂ A, out of at most log₂ of the number of\nkeys. Low: "
        "the head looks at few tokens. A is the weight of query i on key j.",
        lambda s: s.entropy,
        unit="bits",
        lowest_first=True,
    ),
    Measure(
        "confidence",
        "confidence",
        "Mean over the queries of the largest weight on a token that is not special\n"
        "(Voita et al. 2019).",
        lambda s: s.confidence,
    ),
    Measure(
        "distance",
        "mean distance",
        "Mean over the queries of Σⱼ A·|i − j|, in tokens (Vig & Belinkov 2019).\n" + _SELF_ONLY,
        lambda s: s.mean_distance,
        digits=1,
        unit="tokens",
    ),
    Measure("previous", "on −1", _OFFSET.format("previous") + _SELF_ONLY, _offset(0)),
    Measure("same", "on 0", _OFFSET.format("same") + _SELF_ONLY, _offset(1)),
    Measure("next", "on +1", _OFFSET.format("next") + _SELF_ONLY, _offset(2)),
    Measure(
        "specials",
        "special tokens",
        "Mean over the queries of the weight on tokens such as </s>.",
        lambda s: s.special_share,
    ),
    Measure(
        "sink",
        "sink",
        "The key that receives the most weight, and its share of all weight in this map\n(after "
        "Xiao et al. 2023).",
        lambda s: s.sink_share,
    ),
)


def measure(id: str) -> Measure | None:
    """The statistic that the heads map is ordered by; None for the order by layer and head."""
    return next((one for one in MEASURES if one.id == id), None)


def ranked(
    heads: Sequence[Head], by: Measure, measured: Mapping[Head, HeadStatistics]
) -> list[Head]:
    """Sort heads best first; equal ones, and all of a kind that has no such statistic, stay as they
    are."""
    sign = 1 if by.lowest_first else -1

    def key(head: Head) -> float:
        value = by.value(measured[head])
        return 0.0 if value is None else sign * value

    return sorted(heads, key=key)
