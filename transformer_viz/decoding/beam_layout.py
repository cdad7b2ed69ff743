"""A beam search drawn from left to right: a column for each step, no lines that cross.

In each column hypotheses stand in the order of those they come from, siblings by probability. The
columns are shifted so that the winner lies on one straight line.
"""

import math
from collections.abc import Set
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from core.decoding.beam_tree import BeamTree, NodeStatus
from transformer_viz.drawing.theme import GRID

BOX_WIDTH, BOX_HEIGHT = 24 * GRID, 8 * GRID
GAP_X, GAP_Y = 6 * GRID, GRID
_PITCH_X = BOX_WIDTH + GAP_X
MARGIN = 4 * GRID
HEADER = 6 * GRID


@dataclass(frozen=True, slots=True)
class BeamLayout:
    """The places of the nodes of a beam tree.

    Attributes:
        columns: the nodes shown in each step, from top to bottom.
        boxes: of these nodes.
    """

    columns: tuple[tuple[int, ...], ...]
    boxes: dict[int, QRectF]
    width: float
    height: float

    def node_at(self, point: QPointF) -> int | None:
        nodes = self.seen(point.x(), point.x())
        return next((node for node in nodes if self.boxes[node].contains(point)), None)

    def seen(self, left: float, right: float) -> list[int]:
        """The nodes whose boxes, or the lines that lead to them, may lie between two abscissas."""
        first = max(0, math.floor((left - MARGIN) / _PITCH_X))
        last = max(0, math.floor((right - MARGIN) / _PITCH_X) + 1)
        return [node for column in self.columns[first : last + 1] for node in column]

    def beside(self, tree: BeamTree, node: int, step: int) -> int:
        """The shown node above (-1) or below (+1) in the same column, else the same."""
        column = self.columns[tree.nodes[node].step]
        return column[max(0, min(column.index(node) + step, len(column) - 1))]

    def after(self, tree: BeamTree, node: int) -> int:
        """The most probable continuation that is shown, else the same."""
        following = self.columns[tree.nodes[node].step + 1 :][:1]
        children = [one for column in following for one in column if tree.nodes[one].parent == node]
        return max(children, key=lambda one: tree.nodes[one].log_probability, default=node)


def column_left(step: int) -> float:
    return MARGIN + step * _PITCH_X


def lay_out_beam(tree: BeamTree, *, pruned: bool) -> BeamLayout:
    """Lay out the tree; `pruned` says whether hypotheses that fell out of the beam are shown."""
    columns: list[list[int]] = [[] for _ in range(tree.steps)]
    for index, node in enumerate(tree.nodes):
        if pruned or node.status is not NodeStatus.PRUNED:
            columns[node.step].append(index)
    spine = set(tree.path(tree.winner))
    slots: dict[int, int] = {}
    for column in columns:
        column.sort(key=lambda index: _place(tree, slots, index))
        for slot, index in enumerate(column, start=_first_slot(tree, slots, column, spine)):
            slots[index] = slot
    top = min(slots.values())
    pitch = BOX_HEIGHT + GAP_Y
    boxes = {
        index: QRectF(
            column_left(tree.nodes[index].step),
            HEADER + (slot - top) * pitch,
            BOX_WIDTH,
            BOX_HEIGHT,
        )
        for index, slot in slots.items()
    }
    rows = max(slots.values()) - top + 1
    return BeamLayout(
        tuple(map(tuple, columns)),
        boxes,
        column_left(tree.steps) - GAP_X + MARGIN,
        HEADER + rows * pitch,
    )


def _place(tree: BeamTree, slots: dict[int, int], index: int) -> tuple[int, float]:
    node = tree.nodes[index]
    return (0 if node.parent is None else slots[node.parent]), -node.log_probability


def _first_slot(tree: BeamTree, slots: dict[int, int], column: list[int], spine: Set[int]) -> int:
    """Of a column: the winner's hypothesis stays at slot 0; beyond its end the first stays beside
    the one it comes from."""
    on_spine = next((place for place, index in enumerate(column) if index in spine), None)
    if on_spine is not None:
        return -on_spine
    parent = tree.nodes[column[0]].parent if column else None
    return 0 if parent is None else slots[parent]
