"""Where the hypotheses of a beam search are drawn, on trees of a real search."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF

from core.decoding.beam_tree import BeamNode, BeamTree, NodeStatus
from core.text.tokens import Token
from transformer_viz.decoding.beam_layout import lay_out_beam

KEPT, PRUNED, FINISHED, WINNER = NodeStatus


def node(parent: int | None, piece: str, step: int, value: float, status: NodeStatus) -> BeamNode:
    score = value if status in (FINISHED, WINNER) else None
    return BeamNode(parent, Token(piece), step, value, status, score)


SMALL = BeamTree(
    (
        node(None, "a", 0, -0.5, KEPT),
        node(None, "b", 0, -1.0, KEPT),
        node(None, "c", 0, -2.0, PRUNED),
        node(1, "e", 1, -1.1, KEPT),
        node(0, "d", 1, -1.2, KEPT),
        node(0, "</s>", 1, -3.0, PRUNED),
        node(3, "</s>", 2, -1.2, WINNER),
        node(4, "</s>", 2, -1.5, FINISHED),
    ),
    beam=2,
    alpha=0.6,
    penalty="gnmt",
)


@st.composite
def trees(draw: st.DrawFn) -> BeamTree:
    """Any search: two hypotheses stay alive, up to four are looked at, one ends at last."""
    nodes: list[BeamNode] = []
    live: list[int | None] = [None]
    steps = draw(st.integers(1, 6))
    for step in range(steps):
        looked_at = []
        for _ in range(draw(st.integers(2, 4))):
            parent = draw(st.sampled_from(live))
            above = 0.0 if parent is None else nodes[parent].log_probability
            value = above - draw(st.floats(0.1, 3.0))
            looked_at.append(len(nodes))
            nodes.append(node(parent, "x", step, value, PRUNED))
        looked_at.sort(key=lambda index: -nodes[index].log_probability)
        live = list(looked_at[:2])
        for index in looked_at[:2]:
            last = step == steps - 1
            status = WINNER if last and index == looked_at[0] else FINISHED if last else KEPT
            one = nodes[index]
            nodes[index] = node(one.parent, "x", step, one.log_probability, status)
    return BeamTree(tuple(nodes), beam=2, alpha=0.6, penalty="gnmt")


@settings(deadline=None, max_examples=60)
@given(trees(), st.booleans())
def test_no_lines_cross_and_no_boxes_touch(tree: BeamTree, pruned: bool) -> None:
    layout = lay_out_beam(tree, pruned=pruned)
    for column in layout.columns:
        tops = [layout.boxes[index].top() for index in column]
        assert tops == sorted(tops)
        for upper, lower in itertools.pairwise(column):
            assert not layout.boxes[upper].intersects(layout.boxes[lower])
            parents = [tree.nodes[index].parent for index in (upper, lower)]
            if None not in parents:
                first, second = (layout.boxes[parent].top() for parent in parents)
                assert first <= second


@settings(deadline=None, max_examples=60)
@given(trees(), st.booleans())
def test_the_winner_lies_on_a_straight_line(tree: BeamTree, pruned: bool) -> None:
    layout = lay_out_beam(tree, pruned=pruned)
    assert len({layout.boxes[index].top() for index in tree.path(tree.winner)}) == 1


def test_columns_are_steps_and_siblings_stand_by_probability() -> None:
    layout = lay_out_beam(SMALL, pruned=True)
    assert layout.columns == ((0, 1, 2), (4, 5, 3), (7, 6))
    lefts = [{layout.boxes[index].left() for index in column} for column in layout.columns]
    assert [len(left) for left in lefts] == [1, 1, 1]
    assert sorted(left.pop() for left in lefts) == [16, 136, 256]
    assert layout.width == layout.boxes[6].right() + 16
    assert max(box.bottom() for box in layout.boxes.values()) <= layout.height


def test_pruned_hypotheses_can_be_left_out() -> None:
    layout = lay_out_beam(SMALL, pruned=False)
    assert layout.columns == ((0, 1), (4, 3), (7, 6))
    assert set(layout.boxes) == {0, 1, 3, 4, 6, 7}


@pytest.mark.parametrize("index", range(8))
def test_a_node_is_found_where_it_is_drawn(index: int) -> None:
    layout = lay_out_beam(SMALL, pruned=True)
    box = layout.boxes[index]
    assert layout.node_at(box.center()) == index
    assert layout.node_at(QPointF(box.right() + 2, box.center().y())) is None
    assert index in layout.seen(box.left(), box.left())


def test_neighbours_in_a_step_and_along_a_hypothesis() -> None:
    layout = lay_out_beam(SMALL, pruned=True)
    assert [layout.beside(SMALL, 5, step) for step in (-1, 1)] == [4, 3]
    assert layout.beside(SMALL, 4, -1) == 4
    assert [layout.after(SMALL, index) for index in (0, 1, 3, 6)] == [4, 3, 6, 6]
