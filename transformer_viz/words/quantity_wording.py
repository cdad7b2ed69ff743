"""How the window names what its maps show, and says what each is and is not."""

from collections.abc import Sequence

from core.trace.trace import AttentionKind, Head
from transformer_viz.drawing.numbers import percent
from transformer_viz.engine.quantities import Found
from transformer_viz.state.options import Combine, Quantity
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session
from transformer_viz.words.titles import AXES, LONG_TITLES
from transformer_viz.words.wording import describe_focus, describe_selection, heads_title

NAMES = {
    Quantity.WEIGHT: "Weight",
    Quantity.NORM: "Norm of the head",
    Quantity.LAYER_NORM: "Norm of the layer",
    Quantity.ROLLOUT: "Rollout",
    Quantity.ALTI: "ALTI+",
}

READINGS = {
    Quantity.WEIGHT: "weight",
    Quantity.NORM: "norm ‖A·f(x)‖",
    Quantity.LAYER_NORM: "norm of all heads",
    Quantity.ROLLOUT: "rollout",
    Quantity.ALTI: "ALTI+",
}
"""What a value of one cell is called."""

EXPLANATIONS = {
    Quantity.WEIGHT: "Weight: the share of each value in the output; attention alone is not an "
    "explanation.",
    Quantity.NORM: "Norm ‖A·f(x)‖: the length of the vector this head moved from column to row, "
    "not its "
    "effect on the layers above.",
    Quantity.LAYER_NORM: "Norm: the length of the vector all heads of the layer moved together, "
    "not its effect on "
    "the layers above.",
    Quantity.ROLLOUT: "Rollout: mean weights mixed half and half with the residual, multiplied "
    "up to this "
    "layer; values are ignored.",
    Quantity.ALTI: "ALTI+: how close each token's contribution comes to the row's output. "
    "Feed-forward "
    "layers are left out; this is not proof of a cause.",
}
"""What it is and is not; the formulas and their sources are in docs/formulas.md."""

NOT_COMPOSED = (
    "This trace is incomplete for this quantity",
    "In the decoder it needs the encoder's attention, and both self- and cross-attention of "
    "every decoder layer.",
)

_STREAMS = {
    AttentionKind.ENCODER_SELF: "Source in the encoder",
    AttentionKind.DECODER_SELF: "Target prefix in the decoder",
    AttentionKind.CROSS: "Source in the decoder",
}
_FED = {
    AttentionKind.ENCODER_SELF: "Row: an encoder position. Column: an input token of the source. "
    "The decoder's maps add "
    "the source's share.",
    AttentionKind.DECODER_SELF: "Row: the last token so far → the token predicted. Column: an "
    "input token of the target.",
    AttentionKind.CROSS: "Row: the last target token so far → the token predicted. Column: an "
    "input token of the "
    "source.",
}


def mapped_heads(quantity: Quantity, selection: Selection) -> tuple[Head, ...]:
    """Return one of the selected heads for each map that they have."""
    if not quantity.of_layer:
        return selection.heads
    by_layer = {head.layer: head for head in selection.heads}
    by_layer[selection.layer] = selection.primary
    return tuple(by_layer.values())


def averaged_heads(quantity: Quantity, selection: Selection) -> tuple[Head, ...]:
    """The selected heads that one map is the mean of; a layer's map is that of any of its heads."""
    return (selection.primary,) if quantity.of_layer else selection.heads


def map_title(quantity: Quantity, heads: Sequence[Head], *, averaged: bool) -> str:
    """Return the title of one map, or of several beside each other."""
    if not quantity.of_layer:
        moved = " · norm moved" if quantity is Quantity.NORM else ""
        return heads_title(heads, averaged=averaged) + moved
    kind, plural = heads[0].kind, "s" * (len(heads) > 1)
    layers = f"layer{plural} {', '.join(str(head.layer + 1) for head in heads)}"
    if quantity.of_input:
        return f"{_STREAMS[kind]} · {NAMES[quantity]} after {layers}"
    return f"{LONG_TITLES[kind]} · {layers} · norm moved by all heads"


def row_title(quantity: Quantity, name: str, layer: int) -> str:
    """Return the title over the largest values of a row."""
    if quantity is Quantity.WEIGHT:
        return f"“{name}” looks at"
    after = f" after layer {layer + 1}" * quantity.of_input
    return f"“{name}” by {READINGS[quantity]}{after}"


def describe_map(session: Session, found: Found) -> str:
    """What the map is, and the row or cell in focus with its value: for screen readers."""
    quantity, selection = found.quantity, session.selection
    if quantity is Quantity.WEIGHT:
        return describe_selection(session)
    averaged = session.options.combine is Combine.MEAN
    heads = averaged_heads(quantity, selection) if averaged else (selection.primary,)
    title = map_title(quantity, heads, averaged=averaged)
    reading = title + describe_focus(session, found.trace, heads, READINGS[quantity])
    row, source = session.focus[0], found.source_shares(heads[0])
    if source is None or row is None:
        return reading
    return f"{reading} · {percent(float(source[row]))} from the source"


def axes_sentence(quantity: Quantity, kind: AttentionKind) -> str:
    return (_FED if quantity.of_input else AXES)[kind]
