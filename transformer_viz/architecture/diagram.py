"""Where the boxes and arrows of a model are drawn: an encoder, a decoder, and one block opened.

The towers grow from the bottom to the top, as in the paper's figure 1. One layer of each is open;
the others are closed boxes. Beside the towers, one sub-layer is drawn from the inside (figure 2,
`inside`). Lengths are in logical pixels at zoom 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QPointF, QRectF, QSizeF

from core.config import ModelConfig
from core.heads import AttentionKind
from transformer_viz.drawing.box_colors import Role
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.selection import Side

WIDTH = 54 * GRID
"""Of a box in a tower."""

_TALL, _LOW, _LAYER, _ADD = 9.5 * GRID, 5.5 * GRID, 6 * GRID, 4.5 * GRID  # heights of boxes
_GAP, _FORK = 2.5 * GRID, 4 * GRID  # below a box, and below one that three arrows enter
_SIDE = 4 * GRID  # from a tower to the line of its residual connections
_BETWEEN = 15 * GRID  # two towers
_HEADER = 5 * GRID  # above the boxes of an open layer
_MARGIN = 4 * GRID


@dataclass(frozen=True, slots=True)
class Node:
    """A box.

    Attributes:
        name: as `core.analysis.boxes` calls it, or what it does for a step without parameters.
        column: 0 the encoder, 1 the decoder, 2 the sub-layer that is open.
        frame: whether it only surrounds other boxes.
    """

    name: str
    title: str
    role: Role
    rect: QRectF
    column: int
    frame: bool = False

    def moved(self, step: QPointF) -> Node:
        """Return the same box elsewhere."""
        return replace(self, rect=self.rect.translated(step))


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow along these points, from what makes a tensor to what reads it."""

    source: str
    target: str
    points: tuple[QPointF, ...]
    note: str = ""

    def moved(self, step: QPointF) -> Edge:
        """Return the same arrow elsewhere."""
        return replace(self, points=tuple(point + step for point in self.points))


@dataclass(frozen=True, slots=True)
class Diagram:
    """A model as it is drawn.

    Attributes:
        nodes: by name, in the order of the data.
        layer: the layer that is open in both towers, as far as they have it.
        inside: the name of the sub-layer that is open.
        inside_frame: around it.
        heads_frame: around the steps that each head makes; empty for a feed-forward network.
    """

    nodes: Mapping[str, Node]
    edges: Sequence[Edge]
    size: QSizeF
    layer: int
    inside: str
    inside_frame: QRectF
    heads_frame: QRectF

    def node_at(self, point: QPointF) -> Node | None:
        """Return the box at a point; the innermost of several."""
        under = [node for node in self.nodes.values() if node.rect.contains(point)]
        return min(under, key=lambda node: node.rect.height(), default=None)

    def beside(self, name: str, dx: int, dy: int) -> str:
        """Return the nearest box in a direction, or the same one where there is none.

        Up and down stay in the column; `dy` is 1 upwards.
        """
        here = self.nodes[name]

        def distance(node: Node) -> float:
            to = node.rect.center() - here.rect.center()
            along, across = (to.x() * dx, to.y()) if dx else (-to.y() * dy, to.x())
            return along + 3 * abs(across) if along > 1 else float("inf")

        others = [
            node
            for node in self.nodes.values()
            if not node.frame and node is not here and (dx or node.column == here.column)
        ]
        if dx:
            row = [n for n in others if n.column == here.column and _overlaps(n.rect, here.rect)]
            others = [
                *(n for n in row if distance(n) < float("inf")),
                *(n for n in others if (n.column - here.column) * dx > 0),
            ]
        nearest = min(others, key=distance, default=here)
        return nearest.name if distance(nearest) < float("inf") else name

    def way_to(self, name: str) -> frozenset[str]:
        """Return the boxes that what is computed in a box depends on, itself included."""
        feeding: dict[str, set[str]] = {}
        for edge in self.edges:
            feeding.setdefault(edge.target, set()).add(edge.source)
        found = {name}
        if self.nodes[name].frame:
            found.add(self._last_of(name))
        if self.nodes[name].column == 2:
            found.add(self.inside)
        ends = list(found)
        while ends:
            new = feeding.get(ends.pop(), set()) - found
            found |= new
            ends += new
        return frozenset(found)

    def _last_of(self, frame: str) -> str:
        """Return the topmost box in a frame."""
        inside = [n for n in self.nodes.values() if n.name.startswith(f"{frame}.") and n.column < 2]
        return min(inside, key=lambda node: node.rect.top()).name


def _overlaps(one: QRectF, other: QRectF) -> bool:
    return one.top() < other.bottom() and other.top() < one.bottom()


@dataclass(slots=True)
class Column:
    """Boxes that are put on top of each other, the first one above y = 0.

    Attributes:
        top: the box that the next one reads.
    """

    number: int
    left: float
    width: float
    unit: float
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    y: float = 0.0
    top: str = ""

    @property
    def middle(self) -> float:
        """The x of the arrows between boxes."""
        return self.left + self.width / 2

    def put(
        self, name: str, title: str, role: Role, height: float, gap: float = _GAP, arrows: int = 1
    ) -> Node:
        """Put a box on top, with so many arrows from the one below."""
        self.y -= (gap + height) * self.unit
        rect = QRectF(self.left, self.y, self.width, height * self.unit)
        node = self.nodes[name] = Node(name, title, role, rect, self.number)
        if self.top:
            foot = QPointF(self.middle, self.nodes[self.top].rect.top())
            self.edges.append(Edge(self.top, name, (foot, QPointF(self.middle, rect.bottom()))))
            bend = rect.bottom() + _FORK / 2 * self.unit
            for side in (-1, 1) if arrows == 3 else ():
                x = self.middle + side * self.width / 6
                ends = (self.middle, bend), (x, bend), (x, rect.bottom())
                self.edges.append(Edge(self.top, name, tuple(QPointF(*end) for end in ends)))
        self.top = name
        return node

    def skip(self, source: str, start: float, target: Node, side: int) -> None:
        """Draw a residual connection around what lies between, from y = `start`."""
        x = self.middle + side * (self.width / 2 + _SIDE * self.unit)
        edge = target.rect.right() if side > 0 else target.rect.left()
        y = target.rect.center().y()
        ends = (self.middle, start), (x, start), (x, y), (edge, y)
        self.edges.append(Edge(source, target.name, tuple(QPointF(*end) for end in ends)))


def sublayers_of(stack: str) -> tuple[str, ...]:
    """Return the names of the sub-layers of a layer, from the bottom."""
    if stack == "encoder":
        return "self_attention", "feed_forward"
    return "self_attention", "cross_attention", "feed_forward"


def lay_out_diagram(
    config: ModelConfig, layer: int, inside: str, unit: float, opened: Column
) -> Diagram:
    """Lay a model out.

    Args:
        layer: the one that is open in both towers.
        inside: the sub-layer that `opened` shows, laid out at x = 0 above y = 0.
        unit: the size of the text, 1 for the usual one.
    """
    encoder = _tower(config, "source", layer, unit, x=_MARGIN + 2 * _SIDE)
    decoder = _tower(config, "target", layer, unit, x=_MARGIN + 2 * _SIDE + WIDTH + _BETWEEN)
    edges = [*encoder.edges, *decoder.edges, *_memory_edges(config, encoder, decoder)]
    right = decoder.left + decoder.width + (2 * _SIDE + _BETWEEN / 2) * unit
    high = -min(encoder.y, decoder.y, opened.y - 2 * _HEADER * unit)
    lift = -(high + opened.y - 2 * _HEADER * unit) / 2  # in the middle of the height
    step = QPointF(right, lift)
    moved = [node.moved(step) for node in opened.nodes.values()]
    edges += [edge.moved(step) for edge in opened.edges]
    frame = _around(moved, _MARGIN * unit)
    frame.setTop(frame.top() - 2 * _HEADER * unit + _MARGIN * unit)
    down = QPointF(0, high + _MARGIN * unit)
    heads = [node for node in moved if node.role in _BY_HEAD]
    nodes = (*encoder.nodes.values(), *decoder.nodes.values(), *moved)
    return Diagram(
        nodes={node.name: node.moved(down) for node in nodes},
        edges=[edge.moved(down) for edge in edges],
        size=QSizeF(frame.right() + _MARGIN * unit, high + 2 * _MARGIN * unit),
        layer=layer,
        inside=inside,
        inside_frame=frame.translated(down),
        heads_frame=_around(heads, 1.5 * GRID * unit).translated(down) if heads else QRectF(),
    )


_BY_HEAD = (Role.MATMUL, Role.SCALE, Role.MASK, Role.SOFTMAX)


def _around(nodes: Sequence[Node], margin: float) -> QRectF:
    rect = QRectF()
    for node in nodes:
        rect = rect.united(node.rect)
    return rect.adjusted(-margin, -margin, margin, margin)


def _tower(config: ModelConfig, side: Side, layer: int, unit: float, x: float) -> Column:
    encoder = side == "source"
    stack, count = (
        ("encoder", config.encoder_layers) if encoder else ("decoder", config.decoder_layers)
    )
    column = Column(int(not encoder), x * unit, WIDTH * unit, unit)
    column.put(side, "Encoder inputs" if encoder else "Decoder inputs", Role.TEXT, _ADD, gap=0)
    embedding = "Input embedding" if encoder else "Output embedding"
    scaled = f" × √{config.d_model}" if config.scale_embedding else ""
    column.put(f"{side}_embedding", embedding + scaled, Role.EMBEDDING, _TALL)
    if config.positions in ("sinusoidal", "learned"):
        column.put(f"{side}_positions", "⊕ Positional encoding", Role.POSITIONS, _LOW)
    for number in range(count):
        if number == min(layer, count - 1):
            _open_layer(column, config, stack, number)
        else:
            column.put(f"{stack}.{number}", f"Layer {number + 1}", Role.LAYER, _LAYER)
    if config.has_top_norm:
        column.put(f"{stack}_norm", "Final LayerNorm", Role.NORM, _LOW)
    if not encoder:
        column.put("output_embedding", "Linear", Role.LINEAR, _TALL)
        column.put("probabilities", "Softmax", Role.SOFTMAX, _LOW)
    else:
        column.y -= 3 * _GAP * unit  # room for the arrow to the decoder
    return column


def _open_layer(column: Column, config: ModelConfig, stack: str, number: int) -> None:
    side, unit = (-1 if stack == "encoder" else 1), column.unit
    below, before = column.y, set(column.nodes)
    column.y -= _GAP * unit
    for sublayer in sublayers_of(stack):
        source, start = column.top, column.y - 0.3 * _GAP * unit
        name = f"{stack}.{number}.{sublayer}"
        if config.norm == "pre":
            column.put(f"{name}_residual.norm", "LayerNorm", Role.NORM, _LOW, gap=1.4 * _GAP)
        attends = sublayer != "feed_forward"
        role = Role.ATTENTION if attends else Role.FEED_FORWARD
        title = _title(stack, sublayer, config)
        forked = attends and sublayer != "cross_attention"
        column.put(name, title, role, _TALL, _FORK if forked else 1.4 * _GAP, 3 if forked else 1)
        gap = _GAP if config.norm == "pre" else 0.8 * _GAP
        add = column.put(f"{name}_residual.add", "⊕ Add", Role.ADD, _ADD, gap=gap)
        column.skip(source, start, add, side)
        if config.norm == "post":
            column.put(f"{name}_residual.norm", "LayerNorm", Role.NORM, _LOW, gap=0)
    column.y -= _HEADER * unit
    narrow, wide = 2.5 * GRID * unit, 2 * _SIDE * unit  # beside the other tower, and the lines
    left = column.left - (wide if side < 0 else narrow)
    rect = QRectF(left, column.y, column.width + narrow + wide, below - column.y)
    rect.adjust(0, 0, 0, -0.4 * _GAP * unit)
    title = f"Layer {number + 1}"
    frame = Node(f"{stack}.{number}", title, Role.LAYER, rect, column.number, frame=True)
    inner = {name: node for name, node in column.nodes.items() if name not in before}
    for name in inner:
        del column.nodes[name]
    column.nodes |= {frame.name: frame, **inner}  # drawn first, since it lies behind


def _title(stack: str, sublayer: str, config: ModelConfig) -> str:
    if sublayer == "feed_forward":
        return "Feed forward"
    masked = stack == "decoder" and sublayer == "self_attention" and config.decoder_mask
    return "Masked multi-head attention" if masked else "Multi-head attention"


def _memory_edges(config: ModelConfig, encoder: Column, decoder: Column) -> list[Edge]:
    """The one output of the encoder, which each decoder layer reads as keys and values."""
    memory = encoder.top
    start = QPointF(encoder.middle, encoder.nodes[memory].rect.top())
    over = encoder.y + _GAP * encoder.unit
    bus = (encoder.left + encoder.width + decoder.left) / 2
    edges = []
    for number in range(config.decoder_layers):
        cross = f"decoder.{number}.cross_attention"
        target = decoder.nodes.get(cross) or decoder.nodes[f"decoder.{number}"]
        end = QPointF(target.rect.left(), target.rect.center().y())
        ends = (start, QPointF(start.x(), over), QPointF(bus, over), QPointF(bus, end.y()), end)
        edges.append(Edge(memory, target.name, ends, "K, V" if target.name == cross else ""))
    return edges


def kind_of(name: str) -> tuple[AttentionKind, int] | None:
    """Return the kind and the layer of the attention block that a box is or is in, or None."""
    stack, _, rest = name.partition(".")
    number, _, part = rest.partition(".")
    if part.startswith("cross_attention"):
        return AttentionKind.CROSS, int(number)
    if part.startswith("self_attention"):
        kind = AttentionKind.ENCODER_SELF if stack == "encoder" else AttentionKind.DECODER_SELF
        return kind, int(number)
    return None


def block_name(kind: AttentionKind, layer: int) -> str:
    """Return the name of an attention block."""
    if kind is AttentionKind.CROSS:
        return f"decoder.{layer}.cross_attention"
    return f"{kind.stem}.{layer}.self_attention"
