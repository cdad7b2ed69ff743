"""A beam search as a tree: every hypothesis that was looked at, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.text.tokens import Token


class NodeStatus(StrEnum):
    KEPT = "kept"  # in the beam after its step, and so continued or alive at the end
    PRUNED = "pruned"  # among the candidates of its step, and not in the beam after it
    FINISHED = "finished"  # ended inside the beam
    WINNER = "winner"  # the finished one with the highest score


@dataclass(frozen=True, slots=True)
class BeamNode:
    """A hypothesis, as its last token and the hypothesis before it.

    Attributes:
        parent: index of the node before; None for a first token.
        step: the step that proposed it, from 0; it has ``step + 1`` tokens.
        log_probability: of all its tokens.
        score: of a finished one, ``log_probability`` divided by the length penalty.
    """

    parent: int | None
    token: Token
    step: int
    log_probability: float
    status: NodeStatus
    score: float | None = None


@dataclass(frozen=True, slots=True)
class BeamTree:
    """All hypotheses of a search; ``nodes`` are in its order: by step, the most probable first.

    A search with R hypotheses looks at the 2R most probable continuations in each step.
    ``penalty`` is the form of the length penalty, ``alpha`` its exponent.
    """

    nodes: tuple[BeamNode, ...]
    beam: int
    alpha: float
    penalty: str

    @property
    def winner(self) -> int:
        """The index of the node that the search returns."""
        return next(i for i, node in enumerate(self.nodes) if node.status is NodeStatus.WINNER)

    @property
    def steps(self) -> int:
        return self.nodes[-1].step + 1

    def path(self, index: int) -> tuple[int, ...]:
        """The nodes from a first token to this one."""
        return tuple(reversed(list(self._upwards(index))))

    def ids(self, index: int) -> tuple[int, ...]:
        """The tokens of the hypothesis, with the end token of a finished one."""
        return tuple(self.nodes[one].token.id for one in self.path(index))

    def children(self, index: int) -> tuple[int, ...]:
        return tuple(i for i, node in enumerate(self.nodes) if node.parent == index)

    def _upwards(self, index: int) -> Iterator[int]:
        upper: int | None = index
        while upper is not None:
            yield upper
            upper = self.nodes[upper].parent
