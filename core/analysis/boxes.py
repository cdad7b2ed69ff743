"""The boxes of the paper's figures 1 and 2, with the exact number of parameters in each.

All of it follows from the configuration; ``Transformer.parameter_count`` counts the real tensors,
and the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.config import ModelConfig
from core.heads import AttentionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One box, and the boxes that are drawn inside it.

    Attributes:
        name: where it is in the model, as its parameters are named: ``decoder.0.cross_attention``.
        inputs, outputs: the width of what enters and leaves it, for each token. An embedding takes
            an id, so its input is as wide as its vocabulary.
        weights: its own numbers in matrices, and the gain and bias of a norm.
        biases: its own numbers in the biases of linear layers and of the output.
        tied_to: the name of the box whose matrix this box shares; its own then has no weights.
        parts: the boxes inside it, in the order of the data.
    """

    name: str
    inputs: int
    outputs: int
    weights: int = 0
    biases: int = 0
    tied_to: str | None = None
    parts: tuple[Box, ...] = ()

    @property
    def parameters(self) -> int:
        """The number of its parameters, those of its parts included."""
        return self.without_biases + self.all_biases

    @property
    def without_biases(self) -> int:
        """The same without the biases of linear layers and of the output; a norm's bias stays."""
        return self.weights + sum(part.without_biases for part in self.parts)

    @property
    def all_biases(self) -> int:
        """The number of biases in it and in its parts."""
        return self.biases + sum(part.all_biases for part in self.parts)

    def every(self) -> Iterator[Box]:
        """Yield this box and all those inside it, each before its parts."""
        yield self
        for part in self.parts:
            yield from part.every()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "name": self.name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "parameters": self.parameters,
            "without_biases": self.without_biases,
            **({"tied_to": self.tied_to} if self.tied_to else {}),
            **({"parts": [part.to_dict() for part in self.parts]} if self.parts else {}),
        }


def boxes(config: ModelConfig) -> Box:
    """Return the whole model as one box, named ``model``.

    The queries, keys and values of a block are boxes of their own, although the model stores their
    matrices as one. A pruned head is in none of them.
    """
    width = config.d_model
    learned = config.max_positions * width if config.positions == "learned" else 0
    return Box(
        name="model",
        inputs=config.vocab_size,
        outputs=config.target_vocabulary,
        parts=(
            _embedding(config, "source"),
            _embedding(config, "target"),
            Box(name="positions", inputs=width, outputs=width, weights=learned),
            *_stack(config, "encoder"),
            *_stack(config, "decoder"),
            _embedding(config, "output"),
        ),
    )


def _embedding(config: ModelConfig, side: str) -> Box:
    rows = config.vocab_size if side == "source" else config.target_vocabulary
    ties = {
        "all": {"target": "source", "output": "source"},
        "inputs": {"target": "source"},
        "target": {"output": "target"},
        "none": {},
    }
    tied_to = ties[config.shared_embeddings].get(side)
    is_output = side == "output"
    return Box(
        name=f"{side}_embedding",
        inputs=config.d_model if is_output else rows,
        outputs=rows if is_output else config.d_model,
        weights=0 if tied_to else rows * config.d_model,
        biases=rows if is_output and config.output_bias else 0,
        tied_to=f"{tied_to}_embedding" if tied_to else None,
    )


def _stack(config: ModelConfig, name: str) -> list[Box]:
    """The layers as one box, and the final norm where there is one."""
    width = config.d_model
    count = config.encoder_layers if name == "encoder" else config.decoder_layers
    layers = tuple(_layer(config, name, number) for number in range(count))
    norms = [_norm(config, f"{name}_norm")] if config.has_top_norm else []
    return [Box(name=name, inputs=width, outputs=width, parts=layers), *norms]


def _layer(config: ModelConfig, stack: str, number: int) -> Box:
    name = f"{stack}.{number}"
    own = AttentionKind.ENCODER_SELF if stack == "encoder" else AttentionKind.DECODER_SELF
    sublayers = [_attention(config, f"{name}.self_attention", own, number)]
    if stack == "decoder":
        crossed = _attention(config, f"{name}.cross_attention", AttentionKind.CROSS, number)
        sublayers.append(crossed)
    sublayers.append(_feed_forward(config, f"{name}.feed_forward", stack))
    parts: list[Box] = []
    for sublayer in sublayers:
        norm = _norm(config, f"{sublayer.name}_residual.norm")
        parts += (norm, sublayer) if config.norm == "pre" else (sublayer, norm)
    return Box(name=name, inputs=config.d_model, outputs=config.d_model, parts=tuple(parts))


def _attention(config: ModelConfig, name: str, kind: AttentionKind, layer: int) -> Box:
    heads = len(config.kept_heads(kind, layer))
    encoder = kind is AttentionKind.ENCODER_SELF
    keys = heads * (config.encoder_d_k if encoder else config.decoder_d_k)
    values = heads * (config.encoder_d_v if encoder else config.decoder_d_v)
    width = config.d_model
    return Box(
        name=name,
        inputs=width,
        outputs=width,
        parts=(
            _linear(f"{name}.query", width, keys, config.bias),
            _linear(f"{name}.key", width, keys, config.bias),
            _linear(f"{name}.value", width, values, config.bias),
            _linear(f"{name}.output", values, width, config.bias),
        ),
    )


def _feed_forward(config: ModelConfig, name: str, stack: str) -> Box:
    width = config.d_model
    inner = config.encoder_d_ff if stack == "encoder" else config.decoder_d_ff
    return Box(
        name=name,
        inputs=width,
        outputs=width,
        parts=(
            _linear(f"{name}.inner", width, inner, True),
            _linear(f"{name}.outer", inner, width, True),
        ),
    )


def _linear(name: str, inputs: int, outputs: int, bias: bool) -> Box:
    return Box(
        name=name,
        inputs=inputs,
        outputs=outputs,
        weights=inputs * outputs,
        biases=outputs if bias else 0,
    )


def _norm(config: ModelConfig, name: str) -> Box:
    width = config.d_model
    return Box(name=name, inputs=width, outputs=width, weights=2 * width)
