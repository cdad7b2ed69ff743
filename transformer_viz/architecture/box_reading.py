"""What a box says of itself: its shape for this sentence, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.analysis.boxes import Box, boxes
from core.config import ModelConfig
from core.heads import AttentionKind
from transformer_viz.architecture.box_values import side_of
from transformer_viz.architecture.diagram import kind_of


@dataclass(frozen=True, slots=True)
class BoxReading:
    """A box in words.

    Attributes:
        shape: of what leaves it, as in ``12 × 512``.
        box: its parameters; None for a step that has none.
        tied_to: which box has its matrix, in words.
    """

    shape: str
    box: Box | None = None
    tied_to: str = ""

    @property
    def brief(self) -> str:
        """Shape and parameters, for the box itself."""
        return " · ".join(filter(None, (self.shape, self._count())))

    @property
    def parameters(self) -> str:
        """The parameters in words."""
        box = self.box
        if self.tied_to:
            own = f"; its own bias has {box.biases:,}" if box is not None and box.biases else ""
            return f"shares the numbers of the {self.tied_to}, where they are counted{own}"
        if box is None or not box.parameters:
            return "no parameters"
        if not box.all_biases:
            return f"{box.parameters:,} parameters, no biases"
        return f"{box.parameters:,} parameters, {box.without_biases:,} without biases"

    def _count(self) -> str:
        box = self.box
        if self.tied_to:
            return "shared"
        if box is None or not box.parameters:
            return ""
        return f"{box.parameters:,}"


_IN_WORDS = {"source_embedding": "input embedding", "target_embedding": "output embedding"}


class Reader:
    """Reads the boxes of one model; counts are made once."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._boxes: Mapping[str, Box] = {box.name: box for box in boxes(config).every()}

    def read(self, name: str, n: int | None, m: int | None) -> BoxReading:
        """Read a box for n source and m target tokens; None where no sentence is shown."""
        positions = name.endswith("_positions")
        box = self._boxes.get("positions" if positions else name)
        tied = "" if box is None or box.tied_to is None else _IN_WORDS[box.tied_to]
        if name == "target_positions":
            return BoxReading(self._shape(name, n, m), None, self._shared_positions())
        return BoxReading(self._shape(name, n, m), box, tied)

    def _shared_positions(self) -> str:
        return "encoder positions" if self._config.positions == "learned" else ""

    def _shape(self, name: str, n: int | None, m: int | None) -> str:
        source, target = ("n" if n is None else str(n)), ("m" if m is None else str(m))
        rows = source if side_of(name) == "source" else target
        if name in ("source", "target"):
            return f"{rows} tokens"
        if name in ("output_embedding", "probabilities"):
            return f"{rows} × {self._config.target_vocabulary:,}"
        part = name.rpartition(".")[2]
        block = kind_of(name)
        if block is not None and part not in ("norm", "add"):
            return self._attention_shape(block, part, rows, source, target)
        if part in ("inner", "activation"):
            stack = self._config
            width = stack.encoder_d_ff if name.startswith("encoder") else stack.decoder_d_ff
            return f"{rows} × {width:,}"
        return f"{rows} × {self._config.d_model}"

    def _attention_shape(
        self, block: tuple[AttentionKind, int], part: str, rows: str, source: str, target: str
    ) -> str:
        kind, layer = block
        config = self._config
        heads = len(config.kept_heads(kind, layer))
        encoder = kind is AttentionKind.ENCODER_SELF
        d_k = config.encoder_d_k if encoder else config.decoder_d_k
        d_v = config.encoder_d_v if encoder else config.decoder_d_v
        keys = target if kind is AttentionKind.DECODER_SELF else source
        if part in ("query", "key"):
            return f"{heads} × {rows} × {d_k}"
        if part == "value":
            return f"{heads} × {rows} × {d_v}"
        if part in ("matmul", "scale", "mask", "softmax"):
            return f"{heads} × {rows} × {keys}"
        if part == "attend":
            return f"{heads} × {rows} × {d_v}"
        if part == "concat":
            return f"{rows} × {heads * d_v}"
        return f"{rows} × {config.d_model}"


def where(name: str) -> str:
    """Return where a box is, as in “Encoder, layer 2, self-attention”."""
    parts = name.split(".")
    if len(parts) == 1:
        return {
            "source": "Encoder",
            "source_embedding": "Encoder",
            "source_positions": "Encoder",
            "encoder_norm": "Encoder",
        }.get(name, "Decoder")
    place = f"{parts[0].capitalize()}, layer {int(parts[1]) + 1}"
    if len(parts) == 2:
        return place
    return f"{place}, {parts[2].removesuffix('_residual').replace('_', '-')}"
