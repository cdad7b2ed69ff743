"""Which validations were the best so far, and for how long nothing has been better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.training.events import Validation


@dataclass(slots=True, kw_only=True)
class Best:
    """The best validation so far; it is part of the state that a run resumes from.

    Attributes:
        kept: step and score of the best validations, the best first.
        since: validations after the best one.
    """

    kept: list[tuple[int, float]] = field(default_factory=list)
    since: int = 0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Best:
        """Read the state from JSON, in which a tuple is a list."""
        return cls(kept=[(step, score) for step, score in values["kept"]], since=values["since"])

    def exhausted(self, patience: int | None) -> bool:
        """Return whether ``patience`` validations, if there is such a limit, brought no
        improvement."""
        return patience is not None and self.since >= patience

    @property
    def steps(self) -> set[int]:
        return {step for step, _ in self.kept}

    def note(self, validation: Validation, *, by: str, keep: int) -> None:
        """Record a validation; of equal scores, the earlier one is better."""
        score: float = getattr(validation, by)
        sign = 1.0 if by == "valid_loss" else -1.0  # a loss is better when it is lower
        better = not self.kept or sign * score < sign * self.kept[0][1]
        self.since = 0 if better else self.since + 1
        ranked = sorted([*self.kept, (validation.step, score)], key=lambda entry: sign * entry[1])
        self.kept = ranked[: max(1, keep)]
