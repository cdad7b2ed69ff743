"""Table 3 run at a small scale: a folder with a run for each row and seed, and what came out.

The folder's ``study.json`` says which rows, scale, data and seeds; everything else is read from the
runs, ``ROW-SEED``, so that a study continues after any interruption.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.checkpoints.header import read_header
from core.errors import UserError
from core.files import atomic_write_text, is_file, read_problem, read_regular, write_problem
from core.paper.scaled import CHANGES, MOST_SEEDS, ORDER, SCALES, scaled
from core.paper.variations import VARIATIONS
from core.training.config import RunConfig
from core.training.run_folder import RunFolder

LARGEST = 1_000_000  # bytes of study.json
_FORMAT = "transformer-viz-variations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a study runs.

    Attributes:
        scale: a name of ``core.paper.scaled.SCALES``.
        rows: names of rows, in the order in which they run.
        seeds: how many runs each row has; their seeds are 1, 2, ….
        settings: changes to all runs, such as the data.
    """

    scale: str = "small"
    rows: tuple[str, ...] = ORDER
    seeds: int = 2
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise UserError(f"There is no scale {self.scale!r}; there are: {', '.join(SCALES)}.")
        for row in self.rows:
            if row not in CHANGES:
                raise UserError(f"Table 3 has no row {row!r}; its rows are: {', '.join(ORDER)}.")
        if not 1 <= self.seeds <= MOST_SEEDS:
            raise UserError(f"The number of seeds is {self.seeds}; give 1 to {MOST_SEEDS}.")

    def runs(self) -> Iterator[tuple[str, int]]:
        """Yield row and seed of each run: every row once before any is run again."""
        for seed in range(1, self.seeds + 1):
            for row in self.rows:
                yield row, seed

    def config(self, row: str, seed: int) -> RunConfig:
        """Return the configuration of a run. Raises UserError for a setting that is not allowed."""
        paper_steps = scaled(row, SCALES[self.scale]).training.steps
        usual = scaled("base", SCALES[self.scale]).training.steps
        changes = dict(self.settings) | {"seed": seed}
        if "steps" in changes:
            changes["steps"] = max(1, changes["steps"] * paper_steps // usual)
        return scaled(row, SCALES[self.scale]).with_settings(changes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run came to on its validation sentences."""

    perplexity: float
    bleu: float
    parameters: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A row with its runs.

    Attributes:
        outcomes: of the runs that are finished, by seed.
        paper_change: BLEU of the paper's row less that of its base model; None for a row of ours.
    """

    row: str
    outcomes: tuple[Outcome, ...]
    paper_change: float | None

    @property
    def bleu(self) -> float:
        """The mean over the seeds."""
        return _mean([one.bleu for one in self.outcomes])

    @property
    def perplexity(self) -> float:
        """The mean over the seeds."""
        return _mean([one.perplexity for one in self.outcomes])

    @property
    def bleu_ends(self) -> tuple[float, float]:
        """The lowest and the highest of the seeds."""
        found = [one.bleu for one in self.outcomes]
        return min(found), max(found)

    def direction(self, base: Finding) -> int:
        """Return 1 or −1 where every seed is better or worse than every seed of the base model,
        and 0 where they overlap or either has one seed alone."""
        if min(len(self.outcomes), len(base.outcomes)) < 2:
            return 0
        (low, high), (base_low, base_high) = self.bleu_ends, base.bleu_ends
        return int(low > base_high) - int(high < base_low)

    def agrees(self, base: Finding) -> bool | None:
        """Whether BLEU changes in the paper's direction; None where either shows none."""
        found, said = self.direction(base), self.paper_change
        if not said or not found:
            return None
        return (found > 0) == (said > 0)

    def verdict(self, base: Finding | None) -> str:
        """Say how the row compares with the paper, in words; "" where there is nothing to say."""
        if base is None or self.row == base.row:
            return ""
        if min(len(self.outcomes), len(base.outcomes)) < 2:
            return "one seed"
        if self.direction(base) == 0:
            return "within the seeds"
        agrees = self.agrees(base)
        return "" if agrees is None else "as in the paper" if agrees else "against the paper"


class Study:
    """A folder of runs. What a finished run came to is read once."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self.plan = plan
        self._outcomes: dict[tuple[str, int], Outcome] = {}

    @classmethod
    def begin(cls, path: Path, plan: Plan) -> Study:
        """Make the folder, or go on with one of the same plan.

        Raises:
            UserError: the folder holds a study with another plan, or cannot be made.
        """
        record = path / "study.json"
        if is_file(record):
            found = cls.open(path)
            if found.plan != plan:
                raise UserError(
                    f"{path} holds variations with other settings; repeat those to continue, or "
                    "choose another folder."
                )
            return found
        values = {"format": _FORMAT, "version": 1, **asdict(plan)}
        try:
            path.mkdir(parents=True, exist_ok=True)
            atomic_write_text(record, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UserError(write_problem(path, error)) from error
        return cls(path, plan)

    @classmethod
    def open(cls, path: Path) -> Study:
        """Open the folder of a study. Raises UserError unless it is one."""
        record = path / "study.json"
        try:
            values = json.loads(read_regular(record, most=LARGEST))
        except OSError as error:
            raise UserError(read_problem(record, error)) from error
        except (ValueError, RecursionError) as error:
            raise UserError(f"{record} is not JSON: {error}.") from error
        if not isinstance(values, dict) or values.get("format") != _FORMAT:
            raise UserError(f"{record} does not describe variations; choose another folder.")
        if values.get("version") != 1:
            raise UserError(
                f"{record} has version {values.get('version')!r}, but this program reads version "
                "1; use the version of the program that wrote it."
            )
        rows, seeds, settings = (values.get(name) for name in ("rows", "seeds", "settings"))
        if not (
            isinstance(rows, list)
            and all(isinstance(row, str) for row in rows)
            and isinstance(seeds, int)
            and isinstance(settings, dict)
        ):
            raise UserError(f"{record} is damaged; choose another folder.")
        plan = Plan(
            scale=str(values.get("scale")), rows=tuple(rows), seeds=seeds, settings=settings
        )
        return cls(path, plan)

    def run_path(self, row: str, seed: int) -> Path:
        """Return the folder of a run."""
        return self.path / f"{row}-{seed}"

    def model_path(self, row: str, seed: int) -> Path:
        """Return the file of a run's model, which is there once the run is finished."""
        return RunFolder(self.run_path(row, seed)).model

    def outcome(self, row: str, seed: int) -> Outcome | None:
        """Return what a run came to; None unless it is finished.

        Raises:
            UserError: its model cannot be read, or lacks its scores.
        """
        if (row, seed) in self._outcomes:
            return self._outcomes[row, seed]
        path = self.model_path(row, seed)
        if not is_file(path):
            return None
        header = read_header(path)
        scores = header.provenance.get("scores") or {}
        try:
            perplexity, bleu = float(scores["perplexity"]), float(scores["bleu"])
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path} does not say its scores; remove the run's folder.") from error
        found = Outcome(perplexity, bleu, header.parameters)
        self._outcomes[row, seed] = found
        return found

    def findings(self) -> list[Finding]:
        """Return the rows of which a run is finished, in the plan's order."""
        rows = []
        for row in self.plan.rows:
            seeds = range(1, self.plan.seeds + 1)
            found = [one for seed in seeds if (one := self.outcome(row, seed)) is not None]
            if found:
                rows.append(Finding(row, tuple(found), _paper_change(row)))
        return rows


def base_of(findings: Sequence[Finding]) -> Finding | None:
    """Return the base model's row, if one of its runs is finished."""
    return next((one for one in findings if one.row == "base"), None)


def agreement(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return how well the rows agree with the paper's, as JSON values.

    ``same`` of ``decided`` rows change BLEU in the paper's direction; undecided are those whose
    seeds overlap with the base model's. ``rank`` is Spearman's correlation of the changes over all
    rows of the paper's; None with fewer than three, or where all are equal.
    """
    base = base_of(findings)
    of_paper = [one for one in findings if one.paper_change is not None and one is not base]
    if base is None or not of_paper:
        return {"same": 0, "decided": 0, "rows": 0, "rank": None}
    verdicts = [one.agrees(base) for one in of_paper]
    decided = [verdict for verdict in verdicts if verdict is not None]
    ours = [one.bleu for one in of_paper]
    papers = [one.paper_change or 0.0 for one in of_paper]
    return {
        "same": sum(decided),
        "decided": len(decided),
        "rows": len(of_paper),
        "rank": _spearman(ours, papers),
    }


def agreement_in_words(found: Mapping[str, Any]) -> str:
    """Say what ``agreement`` returned, in one sentence."""
    rank = found["rank"]
    told = (
        f"{found['same']} of {found['decided']} rows whose seeds do not overlap with the base "
        "model's change BLEU in the paper's direction"
    )
    if rank is None:
        return f"{told}."
    return f"{told}; rank correlation over {found['rows']} rows: {rank:.2f}."


def _paper_change(row: str) -> float | None:
    bleu = {one.preset: one.bleu for one in VARIATIONS}
    return round(bleu[row] - bleu["base"], 1) if row in bleu else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation of the ranks, equal values with their mean rank."""
    if len(first) < 3:
        return None
    a, b = _ranks(first), _ranks(second)
    middle = (len(first) + 1) / 2
    products = sum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True))
    squares = [sum((x - middle) ** 2 for x in ranks) for ranks in (a, b)]
    return products / (squares[0] * squares[1]) ** 0.5 if all(squares) else None


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]
