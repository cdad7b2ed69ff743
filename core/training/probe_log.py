"""What probes found at each recorded step: probes.jsonl, written and read. NumPy only.

A line is {"step", "heads": [{"kind", "layer", "head", statistic: value, …}], "gold": {…} or null,
"translations": [text, …]} with the heads of every line in the same order. ``core.training.probes``
says what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.statistics.registry import ANTECEDENT, OF_MAPS, PROBED
from core.statistics.rows import HeadStatistics
from core.trace.trace import AttentionKind, Head
from core.training.jsonl import fits, parse_line

STATISTICS = tuple(one.id for one in PROBED)
"""The ids of what is recorded of each head: means over the probe sentences, and gold scores."""

_DECIMALS = 6
_KINDS = frozenset(kind.value for kind in AttentionKind)
_NUMBER = float | None


@dataclass(frozen=True, slots=True)
class Gold:
    """The scores on minimal pairs: shares of the pairs that are right in both of their sentences.

    Attributes:
        pairs: how many.
        pronoun: the German pronoun is the most probable word.
        antecedent: a head's heaviest word is the noun that "it" means, for each head that has a
            row where this can be asked.
    """

    pairs: int
    pronoun: float
    antecedent: dict[Head, float]


def log_line(
    step: int,
    heads: Iterable[tuple[Head, Sequence[HeadStatistics]]],
    gold: Gold | None,
    translations: Sequence[str],
) -> dict[str, Any]:
    """Return a line of probes.jsonl.

    ``heads`` come with their statistics on each probe sentence, and ``translations`` are the
    model's own translations of these sentences."""
    return {
        "step": step,
        "heads": [
            {
                "kind": head.kind.value,
                "layer": head.layer,
                "head": head.head,
                **_means(each),
                ANTECEDENT.id: None if gold is None else _rounded(gold.antecedent.get(head)),
            }
            for head, each in heads
        ],
        "gold": None if gold is None else {"pairs": gold.pairs, "pronoun": _rounded(gold.pronoun)},
        "translations": list(translations),
    }


def _means(each: Sequence[HeadStatistics]) -> dict[str, float | None]:
    means = {}
    for measured in OF_MAPS:
        found = [value for one in each if (value := one[measured.id]) is not None]
        means[measured.id] = _rounded(math.fsum(found) / len(found)) if found else None
    return means


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class ProbeLog:
    """All lines of a probes.jsonl, in the order of their steps.

    Attributes:
        steps: [N] recorded steps.
        heads: H of them, the same at every step.
        values: [N, H, len(STATISTICS)]; NaN where a statistic does not exist, or was
            not yet recorded by the version that wrote the line.
        pronoun: [N] share of minimal pairs with the right pronoun; NaN where not measured.
        pairs: minimal pairs behind ``pronoun`` and "antecedent"; 0 where not measured.
        translations: for each step the model's own ones of the probes; none in logs of earlier
            versions.
    """

    steps: NDArray[np.int64]
    heads: tuple[Head, ...]
    values: NDArray[np.float64]
    pronoun: NDArray[np.float64]
    pairs: int
    translations: tuple[tuple[str, ...], ...]

    def series(self, head: Head, statistic: str) -> NDArray[np.float64]:
        """Return one statistic of one head by step, [N]."""
        series: NDArray[np.float64] = self.values[
            :, self.heads.index(head), STATISTICS.index(statistic)
        ]
        return series

    def since(self, head: Head, statistic: str, threshold: float) -> int | None:
        """Return the step from which on the statistic stays at or above the threshold.

        None if it is below at the last recorded step; what it did by chance before it fell again
        does not count.
        """
        reached = self.series(head, statistic) >= threshold
        below = np.flatnonzero(~reached)
        first = int(below[-1]) + 1 if below.size else 0
        return int(self.steps[first]) if first < len(self.steps) else None

    def nearest(self, step: int) -> int | None:
        """Return the recorded step closest to ``step``: the earlier of two, or None if there is
        none."""
        if not len(self.steps):
            return None
        return int(self.steps[np.abs(self.steps - step).argmin()])


def is_probe_line(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a line of probes.jsonl; its step is checked elsewhere."""
    heads, gold = value.get("heads"), value.get("gold")
    translations = value.get("translations", [])
    return (
        isinstance(heads, list)
        and len(heads) > 0
        and all(map(_is_head, heads))
        and (gold is None or _is_gold(gold))
        and fits(translations, list[str])
    )


def _is_head(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("kind"), str)
        and entry["kind"] in _KINDS
        and all(fits(entry.get(name), int) and entry[name] >= 0 for name in ("layer", "head"))
        and all(fits(entry.get(name), _NUMBER) for name in STATISTICS)
    )


def _is_gold(gold: object) -> bool:
    return (
        isinstance(gold, dict) and fits(gold.get("pairs"), int) and fits(gold.get("pronoun"), float)
    )


def read_probe_log(path: Path) -> ProbeLog:
    """Read a log; a file that does not exist yet is an empty log.

    Invalid lines are left out, and so is a last line that is still being written.

    Raises:
        UserError: the file cannot be read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error}. Check its permissions and try again."
        ) from error
    *whole, _unfinished = content.split(b"\n")
    parsed = (parse_line(line, is_probe_line) for line in whole)
    return _log([line for line in parsed if line is not None])


def _log(lines: list[dict[str, Any]]) -> ProbeLog:
    """Of the lines that name the same heads as the first one."""
    lines.sort(key=lambda line: line["step"])
    heads = _heads(lines[0]) if lines else ()
    lines = [line for line in lines if _heads(line) == heads]
    golds = [line.get("gold") for line in lines]
    values = [
        [[entry.get(name) for name in STATISTICS] for entry in line["heads"]] for line in lines
    ]
    shape = (len(lines), len(heads), len(STATISTICS))
    return ProbeLog(
        steps=np.array([line["step"] for line in lines], dtype=np.int64),
        heads=heads,
        values=np.array(values, dtype=np.float64).reshape(shape),  # null becomes NaN
        pronoun=np.array([gold and gold["pronoun"] for gold in golds], dtype=np.float64),
        pairs=next((gold["pairs"] for gold in golds if gold), 0),
        translations=tuple(tuple(line.get("translations", ())) for line in lines),
    )


def _heads(line: dict[str, Any]) -> tuple[Head, ...]:
    return tuple(
        Head(AttentionKind(entry["kind"]), entry["layer"], entry["head"]) for entry in line["heads"]
    )
