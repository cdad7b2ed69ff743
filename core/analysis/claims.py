"""What may be claimed of a head, measured: its score, what an even spread gives, a threshold.

Each claim says which cells of a map it is about. A head's score is a mean over rows or over
sentences; formulas and the source of every threshold in docs/formulas.md.

Legend: B sentences of a batch, V vocabulary, H heads, Q queries, K keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from core.analysis.verdict import MARGIN
from core.heads import AttentionKind
from core.statistics.batches import Cells
from core.trace.sinks import sink_threshold

FARTHEST_OFFSET = 8

POSITIONAL_THRESHOLD = 0.9  # Voita et al. 2019, section 5.1
BROAD_THRESHOLD = 0.9  # Clark et al. 2019, section 3.3: at most a tenth on any one token
DIAGONAL_THRESHOLD = 0.5  # Clark et al. 2019, section 3.1, there of fixed offsets
RARE_WORD_THRESHOLD = 0.5  # ours; Voita et al. 2019 name none

FEWEST_KEYS = 20  # of fewer keys none could have a tenth at most unless the row were nearly even
FREQUENT_TOKENS = 500  # Voita et al. 2019, section 5.3


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows that a claim counts in a batch, and the cells in them that speak for it.

    Attributes:
        counted: [B, Q].
        wanted: [B, Q, K].
        rivals: [B, Q, K], the cells that compete with them, they themselves included.
    """

    counted: Tensor
    wanted: Tensor
    rivals: Tensor

    def of(self, sentence: int) -> Rows:
        """Return the rows of one sentence, without the first dimension."""
        return Rows(self.counted[sentence], self.wanted[sentence], self.rivals[sentence])


class Claim(ABC):
    """A statement about what a head does, with the score and the threshold that decide it.

    Attributes:
        by_rows: whether a head's score is the mean over all rows, or over sentences.
        is_share: whether the score is a share of rows, which says nothing of how much weight is
            on the wanted cells.
    """

    by_rows: ClassVar[bool] = True
    is_share: ClassVar[bool] = False

    @property
    @abstractmethod
    def role(self) -> str:
        """What a head is called of which it is true."""

    @abstractmethod
    def applies(self, kind: AttentionKind) -> bool: ...

    @abstractmethod
    def rows(self, cells: Cells) -> Rows: ...

    @abstractmethod
    def threshold(self, baseline: float) -> float:
        """The least score with which a head passes."""

    @abstractmethod
    def score(self, weights: Tensor, rows: Rows) -> Tensor:
        """Return the score of each row in each head, [B, H, Q] from [B, H, Q, K]; rows that are not
        counted have any value."""

    @abstractmethod
    def even(self, rows: Rows) -> Tensor:
        """What a head scores that spreads its weight evenly, [B, Q]: the baseline."""

    def witness(self, weights: Tensor, rows: Rows, *, against: bool) -> tuple[int, int]:
        """Return the cell of one map [Q, K] that speaks most for the claim, or against it."""
        mask = rows.rivals & ~rows.wanted if against else rows.wanted
        mask = mask & rows.counted[:, None]
        if not mask.any():
            mask = rows.wanted
        cell = int(weights.masked_fill(~mask, -1.0).argmax())
        return divmod(cell, weights.shape[1])


class _Heaviest(Claim):
    """The heaviest key of a row is a wanted one: a share of rows.

    Voita et al. leave out the end token; here every key that the row may attend to competes, so a
    row that rests on a sink is a miss.
    """

    is_share = True

    def score(self, weights: Tensor, rows: Rows) -> Tensor:
        heaviest = weights.masked_fill(~rows.rivals[:, None], -1.0).argmax(dim=-1)  # [B, H, Q]
        wanted = rows.wanted[:, None].expand(weights.shape)
        return wanted.gather(-1, heaviest[..., None])[..., 0].to(weights)

    def even(self, rows: Rows) -> Tensor:
        """All are equally heavy, and chance decides."""
        return rows.wanted.sum(dim=-1) / rows.rivals.sum(dim=-1).clamp(min=1)


class _Weight(Claim):
    """The weight on the wanted cells, a mean over sentences as for the statistics."""

    by_rows = False

    def score(self, weights: Tensor, rows: Rows) -> Tensor:
        return (weights * rows.wanted[:, None]).sum(dim=-1)

    def even(self, rows: Rows) -> Tensor:
        return rows.wanted.sum(dim=-1) / rows.rivals.sum(dim=-1).clamp(min=1)


@dataclass(frozen=True, slots=True)
class Positional(_Heaviest):
    """A head attends to the token ``offset`` places away, in nine of ten rows that have one."""

    offset: int

    @property
    def role(self) -> str:
        return f"positional({self.offset:+d})" if self.offset else "positional(0)"

    def applies(self, kind: AttentionKind) -> bool:
        return kind is AttentionKind.ENCODER_SELF or (
            kind is AttentionKind.DECODER_SELF and self.offset <= 0
        )

    def rows(self, cells: Cells) -> Rows:
        queries, keys = cells.allowed.shape[1:]
        there = torch.ones(queries, keys, dtype=torch.bool, device=cells.allowed.device)
        diagonal = there.tril(self.offset).triu(self.offset)
        wanted = cells.ordinary & diagonal
        return Rows(wanted.any(dim=-1), wanted, cells.allowed)

    def threshold(self, baseline: float) -> float:
        return max(POSITIONAL_THRESHOLD, baseline + MARGIN)


@dataclass(frozen=True, slots=True, eq=False)
class Sink(_Weight):
    """A head mostly attends to one token whatever the query is; ``where`` is "end", "first" or
    "final mark"."""

    where: str
    marks: Tensor  # [V], which ids are punctuation

    @property
    def role(self) -> str:
        return "sink"

    def applies(self, kind: AttentionKind) -> bool:
        """A row of the decoder sees no later token, so that only the first is there for all."""
        return self.where == "first" or kind is not AttentionKind.DECODER_SELF

    def rows(self, cells: Cells) -> Rows:
        keys = torch.arange(cells.allowed.shape[2], device=cells.allowed.device)
        if self.where == "first":
            column = (keys == 0).expand(len(cells.keys), -1)  # [B, K]
        elif self.where == "end":
            column = keys == cells.keys[:, None] - 1
        else:
            column = (keys == cells.keys[:, None] - 2) & self.marks[cells.key_ids]
        wanted = cells.allowed & column[:, None, :]
        return Rows(wanted.any(dim=-1), wanted, cells.allowed)

    def threshold(self, baseline: float) -> float:
        return sink_threshold(baseline)


@dataclass(frozen=True, slots=True)
class Diagonal(_Weight):
    """A head follows the source along as the target grows."""

    @property
    def role(self) -> str:
        return "diagonal"

    def applies(self, kind: AttentionKind) -> bool:
        return kind is AttentionKind.CROSS

    def rows(self, cells: Cells) -> Rows:
        return Rows(cells.real, cells.diagonal(), cells.allowed)

    def threshold(self, baseline: float) -> float:
        return max(DIAGONAL_THRESHOLD, baseline + MARGIN)


@dataclass(frozen=True, slots=True, eq=False)
class RareWord(_Heaviest):
    """A head attends to the rarest token of a sentence that has one beyond the most
    ``frequent``."""

    counts: Tensor  # [V]
    frequent: int = FREQUENT_TOKENS

    @property
    def role(self) -> str:
        return "rare-word"

    def applies(self, kind: AttentionKind) -> bool:
        return kind is AttentionKind.ENCODER_SELF

    def rows(self, cells: Cells) -> Rows:
        ordinary = cells.ordinary.any(dim=1)  # [B, K]
        counts = self.counts[cells.key_ids]
        fewest = counts.where(ordinary, counts.max() + 1).amin(dim=-1, keepdim=True)  # [B, 1]
        rarest = ordinary & (counts == fewest) & (fewest < self._last_frequent)
        wanted = cells.ordinary & rarest[:, None, :]
        return Rows(wanted.any(dim=-1), wanted, cells.allowed)

    @property
    def _last_frequent(self) -> Tensor:
        """The count of the last of the frequent tokens."""
        return self.counts.sort(descending=True).values[: self.frequent][-1]

    def threshold(self, baseline: float) -> float:
        return max(RARE_WORD_THRESHOLD, baseline + MARGIN)


@dataclass(frozen=True, slots=True)
class Broad(Claim):
    """A head leaves most weight to tokens other than the heaviest, in rows of ``FEWEST_KEYS`` keys
    or more."""

    @property
    def role(self) -> str:
        return "broad"

    def applies(self, kind: AttentionKind) -> bool:
        return True

    def rows(self, cells: Cells) -> Rows:
        counted = cells.allowed.sum(dim=-1) >= FEWEST_KEYS
        return Rows(counted, cells.allowed, cells.allowed)

    def threshold(self, baseline: float) -> float:
        return BROAD_THRESHOLD

    def score(self, weights: Tensor, rows: Rows) -> Tensor:
        return 1 - weights.amax(dim=-1)

    def even(self, rows: Rows) -> Tensor:
        """The most that is possible."""
        return 1 - 1 / rows.rivals.sum(dim=-1).clamp(min=1)

    def witness(self, weights: Tensor, rows: Rows, *, against: bool) -> tuple[int, int]:
        """The heaviest cell of the broadest row, or of the sharpest."""
        heaviest = weights.amax(dim=-1)
        if against:
            query = heaviest.masked_fill(~rows.counted, -1.0).argmax()
        else:
            query = heaviest.masked_fill(~rows.counted, 2.0).argmin()
        return int(query), int(weights[query].argmax())
