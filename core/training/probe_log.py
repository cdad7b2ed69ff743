"""What probes found at each recorded step: probes.jsonl, written and read. NumPy only.

A line is {"step", "heads": [{"kind", "layer", "head", statistic: value, …}], "gold": {…} or null,
"translations": [text, …]} with the heads of every line in the same order. ``core.training.probes``
says what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.trace.statistics import HeadStatistics
from core.trace.trace import AttentionKind, Head

# Means over the probe sentences; docs/formulas.md has their formulas, docs/training.md the list.
STATISTICS = (
    "entropy",
    "confidence",
    "mean_distance",
    "previous",
    "same",
    "next",
    "special",
    "sink",
    "antecedent",
)
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Gold:
    """On minimal pairs: a share of the pairs that are right in both of their sentences.

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
    """A line of probes.jsonl; ``heads`` come with their statistics on each probe sentence, and
    ``translations`` are the model's own of these sentences.
    """
    return {
        "step": step,
        "heads": [
            {
                "kind": head.kind.value,
                "layer": head.layer,
                "head": head.head,
                **_means(each),
                "antecedent": None if gold is None else _rounded(gold.antecedent.get(head)),
            }
            for head, each in heads
        ],
        "gold": None if gold is None else {"pairs": gold.pairs, "pronoun": _rounded(gold.pronoun)},
        "translations": list(translations),
    }


def _means(each: Sequence[HeadStatistics]) -> dict[str, float | None]:
    rows = [
        (
            one.entropy,
            one.confidence,
            one.mean_distance,
            *(one.offset_shares or (None, None, None)),
            one.special_share,
            one.sink_share,
        )
        for one in each
    ]
    means = np.array(rows, dtype=np.float64).mean(axis=0)  # None becomes NaN
    return {
        name: None if np.isnan(mean) else _rounded(float(mean))
        for name, mean in zip(STATISTICS, means, strict=False)
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


@dataclass(frozen=True, slots=True, eq=False)
class ProbeLog:
    """All lines of a probes.jsonl, in the order of their steps.

    Attributes:
        steps: [N] recorded steps.
        heads: H of them, the same at every step.
        values: [N, H, len(STATISTICS)]; NaN where a statistic does not exist.
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
        """One statistic of one head by step, [N]."""
        series: NDArray[np.float64] = self.values[
            :, self.heads.index(head), STATISTICS.index(statistic)
        ]
        return series

    def since(self, head: Head, statistic: str, threshold: float) -> int | None:
        """The step from which on the statistic stays at or above the threshold.

        None if it is below at the last recorded step; what it did by chance before it fell again
        does not count.
        """
        reached = self.series(head, statistic) >= threshold
        below = np.flatnonzero(~reached)
        first = int(below[-1]) + 1 if below.size else 0
        return int(self.steps[first]) if first < len(self.steps) else None

    def nearest(self, step: int) -> int | None:
        """The recorded step closest to ``step``; the earlier of two, None without any."""
        if not len(self.steps):
            return None
        return int(self.steps[np.abs(self.steps - step).argmin()])


def read_probe_log(path: Path) -> ProbeLog:
    """A file that is not there yet is an empty log; a last line still being written is left out.

    Raises:
        UserError: the file cannot be read, or is something else.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}.") from error
    *whole, _unfinished = text.split("\n")
    try:
        return _log([json.loads(line) for line in whole])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} does not hold the probes of a run: {error}.") from error


def _log(lines: list[dict[str, Any]]) -> ProbeLog:
    lines.sort(key=lambda line: line["step"])
    heads = [_heads(line) for line in lines]
    if any(each != heads[0] for each in heads):
        raise ValueError("lines name different heads")
    golds = [line["gold"] for line in lines]
    values = [[[entry[name] for name in STATISTICS] for entry in line["heads"]] for line in lines]
    shape = (len(lines), len(heads[0]) if heads else 0, len(STATISTICS))
    return ProbeLog(
        steps=np.array([line["step"] for line in lines], dtype=np.int64),
        heads=heads[0] if heads else (),
        values=np.array(values, dtype=np.float64).reshape(shape),  # null becomes NaN
        pronoun=np.array([gold and gold["pronoun"] for gold in golds], dtype=np.float64),
        pairs=next((gold["pairs"] for gold in golds if gold), 0),
        translations=tuple(tuple(line.get("translations", ())) for line in lines),
    )


def _heads(line: dict[str, Any]) -> tuple[Head, ...]:
    return tuple(
        Head(AttentionKind(entry["kind"]), entry["layer"], entry["head"]) for entry in line["heads"]
    )
