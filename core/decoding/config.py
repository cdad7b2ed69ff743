"""How a translation is searched for, as one immutable value that checks itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.config import ModelConfig
from core.decoding.penalty import PENALTIES
from core.fields import from_mapping, require, require_choice


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """The settings of a search. Beam 1 is greedy search; the paper's values are beam 4 and alpha
    0.6 (section 6.1).

    Lengths are counted in tokens, on both sides with the end token.

    Attributes:
        beam: hypotheses kept alive for each sentence.
        alpha: exponent of the length penalty; 0 compares plain log-probabilities.
        penalty: form of the length penalty, see ``core.decoding.penalty.length_penalty``.
        max_extra: the output may have this many tokens more than the input.
        max_length: and no more than these, however long the input; None for any number.
        stopping: "exact" searches until no live hypothesis can score better than what is
            finished; "estimate" stops earlier, when ``beam`` hypotheses are finished and the best
            live one, at its present length, scores no better than the worst of them
            (transformers, with ``early_stopping`` False).
        free_end: where an output is as long as it may be, the end token that has to follow costs
            nothing (transformers' ``forced_eos_token_id``) instead of having its own probability.
        n_best: how many hypotheses to find, at most ``beam``.
    """

    beam: int = 1
    alpha: float = 0.6
    penalty: str = "gnmt"
    max_extra: int = 50
    max_length: int | None = None
    stopping: str = "exact"
    free_end: bool = False
    n_best: int = 1

    def __post_init__(self) -> None:
        require(self.beam >= 1, "beam", self.beam, "1 or more")
        require(math.isfinite(self.alpha), "alpha", self.alpha, "a finite number")
        require_choice("penalty", self.penalty, PENALTIES)
        require(self.max_extra >= 0, "max_extra", self.max_extra, "0 or more")
        require(
            self.max_length is None or self.max_length >= 1,
            "max_length",
            self.max_length,
            "1 or more, or null",
        )
        require_choice("stopping", self.stopping, ("exact", "estimate"))
        require(1 <= self.n_best <= self.beam, "n_best", self.n_best, f"1 to beam = {self.beam}")

    @classmethod
    def of_model(
        cls,
        provenance: Mapping[str, Any],
        *,
        beam: int | None = None,
        alpha: float | None = None,
        penalty: str | None = None,
        usual: SearchConfig | None = None,
    ) -> SearchConfig:
        """The search that an imported model brings along; ``usual`` for one that brings none.

        ``beam``, ``alpha`` and ``penalty``, where given, hold instead of the model's.

        Raises:
            UserError: a value that is not allowed.
        """
        decoding = provenance.get("decoding")
        brought = (usual or cls()) if decoding is None else from_mapping(cls, decoding)
        return replace(
            brought,
            beam=brought.beam if beam is None else beam,
            alpha=brought.alpha if alpha is None else alpha,
            penalty=brought.penalty if penalty is None else penalty,
        )

    def longest_output(self, input_length: int, model: ModelConfig) -> int:
        """The most tokens that an output may have, the last of which is then the end token."""
        longest = input_length + self.max_extra
        if self.max_length is not None:
            longest = min(longest, self.max_length)
        if model.positions == "learned":
            longest = min(longest, model.max_positions)
        return longest


GREEDY = SearchConfig()
PAPER = SearchConfig(beam=4)
PARSING = SearchConfig(beam=21, alpha=0.3, max_extra=300)
"""The paper's search for trees (section 6.3)."""
