"""One sub-layer from the inside: the paper's figure 2, or the feed-forward network."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from core.config import ModelConfig
from core.heads import AttentionKind
from transformer_viz.architecture.diagram import Column, Edge, Node, kind_of
from transformer_viz.drawing.box_colors import Role
from transformer_viz.drawing.theme import GRID

WIDTH = 60 * GRID
_STEP, _TALL, _GAP = 6 * GRID, 10 * GRID, 3.5 * GRID


def open_sublayer(config: ModelConfig, name: str, unit: float) -> Column:
    """Lay the parts of a sub-layer out, on top of each other from y = 0, from x = 0."""
    column = Column(2, 0.0, WIDTH * unit, unit)
    block = kind_of(name)
    if block is None:
        column.put(f"{name}.inner", "Linear W₁", Role.LINEAR, _TALL, _GAP)
        activation = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[config.activation]
        column.put(f"{name}.activation", activation, Role.ACTIVATION, _STEP, _GAP)
        column.put(f"{name}.outer", "Linear W₂", Role.LINEAR, _TALL, _GAP)
        return column
    _put_projections(column, name)
    kind = block[0]
    width = config.encoder_d_k if kind is AttentionKind.ENCODER_SELF else config.decoder_d_k
    full = column.width
    column.width = 2 * _third(column) + _space(column)
    for part, title, role in (
        ("matmul", "MatMul q · k" + _turned(config, kind), Role.MATMUL),
        ("scale", f"Scale ÷ √{width}", Role.SCALE),
        ("mask", _mask_title(config, kind), Role.MASK),
        ("softmax", "SoftMax", Role.SOFTMAX),
    ):
        column.put(f"{name}.{part}", title, role, _STEP, _GAP)
    _join(column, name, "matmul", ("query", "key"))
    column.width = full
    column.put(f"{name}.attend", "MatMul weights · v", Role.MATMUL, _STEP, _GAP)
    column.edges.pop()
    for source in ("softmax", "value"):
        _straight(column, f"{name}.{source}", f"{name}.attend")
    column.put(f"{name}.concat", "Concat", Role.CONCAT, _STEP, 1.3 * _GAP)
    column.put(f"{name}.output", "Linear W^O", Role.LINEAR, _TALL, _GAP)
    return column


def _mask_title(config: ModelConfig, kind: AttentionKind) -> str:
    masked = kind is AttentionKind.DECODER_SELF and config.decoder_mask
    return "Mask" if masked else "Mask (opt.)"


def _turned(config: ModelConfig, kind: AttentionKind) -> str:
    """Rotary positions turn queries and keys of self-attention."""
    rotary = config.positions == "rotary" and kind is not AttentionKind.CROSS
    return ", turned" if rotary else ""


def _space(column: Column) -> float:
    return 2 * GRID * column.unit


def _third(column: Column) -> float:
    return (WIDTH * column.unit - 2 * _space(column)) / 3


def _put_projections(column: Column, name: str) -> None:
    """Queries, keys and values side by side."""
    width, height = _third(column), _TALL * column.unit
    for place, (part, letter) in enumerate((("query", "Q"), ("key", "K"), ("value", "V"))):
        left = column.left + place * (width + _space(column))
        rect = QRectF(left, -height, width, height)
        node = Node(f"{name}.{part}", f"Linear W^{letter}", Role.LINEAR, rect, 2)
        column.nodes[node.name] = node
    column.y = -height


def _join(column: Column, name: str, target: str, sources: tuple[str, ...]) -> None:
    for source in sources:
        _straight(column, f"{name}.{source}", f"{name}.{target}")


def _straight(column: Column, source: str, target: str) -> None:
    """An arrow straight up from the middle of a box."""
    start, end = column.nodes[source].rect, column.nodes[target].rect
    x = start.center().x()
    column.edges.append(Edge(source, target, (QPointF(x, start.top()), QPointF(x, end.bottom()))))
