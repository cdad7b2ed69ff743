"""Watching a beam search grow its tree. One sentence at a time, so B = 1.

Legend: R rows (the beam), S source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from core.decoding.beam import Candidates, Ending
from core.decoding.beam_tree import BeamNode, BeamTree, NodeStatus
from core.decoding.config import SearchConfig
from core.decoding.penalty import normalised
from core.decoding.search import proceed, search_memory, source_batch
from core.model.transformer import Transformer
from core.text.tokens import Token


def grow_tree(
    model: Transformer,
    source: Sequence[int],
    config: SearchConfig,
    name: Callable[[int], Token],
    check: Callable[[], None] = proceed,
) -> BeamTree:
    """Search as ``core.decoding.search.search`` does, and keep all that it looked at.

    Args:
        model: in evaluation mode.
        source: ids without specials.
        name: the token of an id.
        check: called before every step; what it raises ends the search.

    Raises:
        UserError: the sentence is longer than the model's learned positions, or the model's
            weights are damaged.
    """
    growth = _Growth(config, name, model.config.eos_id)
    with torch.inference_mode():
        batch = source_batch(model, [source])  # [1, S]
        memory = model.encode(batch)
        ((best, *_),) = search_memory(model, memory, batch, config, check, growth.add_step)
    return growth.tree((*best.ids, model.config.eos_id))


class _Growth:
    def __init__(self, config: SearchConfig, name: Callable[[int], Token], end: int) -> None:
        self._config = config
        self._name = name
        self._end = end
        self._nodes: list[BeamNode] = []
        self._rows: list[int | None] = [None] * config.beam  # the node of each row
        self._step = 0

    def add_step(self, candidates: Candidates, ended: Sequence[Ending], kept: Candidates) -> None:
        looked_at = {}
        for parent, token, log_probability in _listed(candidates):
            looked_at[parent, token] = len(self._nodes)
            node = BeamNode(
                parent=self._rows[parent],
                token=self._name(token),
                step=self._step,
                log_probability=log_probability,
                status=NodeStatus.PRUNED,
            )
            self._nodes.append(node)
        for one in ended:
            self._finish(looked_at[one.parent, self._end])
        rows = [looked_at[parent, token] for parent, token, _ in _listed(kept)]
        for index in rows:
            self._nodes[index] = replace(self._nodes[index], status=NodeStatus.KEPT)
        self._rows = [*rows, *[None] * (self._config.beam - len(rows))]
        self._step += 1

    def tree(self, best: tuple[int, ...]) -> BeamTree:
        config = self._config
        tree = BeamTree(tuple(self._nodes), config.beam, config.alpha, config.penalty)
        nodes = self._nodes
        winner = next(
            index
            for index, node in enumerate(nodes)
            if node.status is NodeStatus.FINISHED and tree.ids(index) == best
        )
        nodes[winner] = replace(nodes[winner], status=NodeStatus.WINNER)
        return replace(tree, nodes=tuple(nodes))

    def _finish(self, index: int) -> None:
        node, config = self._nodes[index], self._config
        score = normalised(node.log_probability, node.step + 1, config.alpha, config.penalty)
        self._nodes[index] = replace(node, status=NodeStatus.FINISHED, score=score)


def _listed(candidates: Candidates) -> list[tuple[int, int, float]]:
    """(parent, token, log-probability) of the candidates of the one sentence that are some."""
    return [
        one
        for one in zip(
            candidates.parents[0].tolist(),
            candidates.tokens[0].tolist(),
            candidates.log_probabilities[0].tolist(),
            strict=True,
        )
        if one[2] > float("-inf")
    ]
