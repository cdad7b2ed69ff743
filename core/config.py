"""The shape of a Transformer as one immutable value that checks itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from core.fields import from_mapping, require, require_choice, require_share
from core.heads import AttentionKind, Head, read_code

POSITIONS = ("sinusoidal", "learned", "rotary", "none")
"""How a model tells one order of its input from another."""

_MOST = {
    **dict.fromkeys(("encoder_layers", "decoder_layers", "encoder_heads", "decoder_heads"), 1_000),
    **dict.fromkeys(("d_model", "encoder_d_ff", "decoder_d_ff"), 1_000_000),
    "vocab_size": 100_000_000,
}
"""A file that asks for more is damaged, and would take all memory."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The defaults are the paper's base model (section 3, table 3 first row).

    Attributes:
        vocab_size: rows of the source embedding, and of the target's too where one vocabulary
            serves both languages.
        target_vocab_size: rows of the target embedding and of the output, where the target has a
            vocabulary of its own; None where it has not.
        d_k: width of a query or key of one head; None means d_model / heads.
        d_v: width of a value of one head; None means the same as d_k.
        norm: "post" normalises after the residual sum, as the paper does; "pre" normalises the
            input of each sub-layer.
        top_norm: a final norm on each stack; None means with pre-norm only.
        positions: "sinusoidal" (section 3.5), "learned" (table 3, row E), "rotary" (queries and
            keys of self-attention are turned; Su et al. 2021, RoFormer), or "none".
        position_layout: "interleaved" puts sine on even and cosine on odd columns, as the paper
            does; "halves" puts all sines first.
        position_denominator: "d_model" divides exponents by d_model, as the paper does;
            "d_model-2" makes the last wavelength exactly 10000·2π (tensor2tensor, Marian).
        position_precision: "float16" rounds sinusoids as a table in half precision holds them
            (folders of transformers whose weights are in half precision and include the table).
        max_positions: rows of a learned table, which encoder and decoder share; sinusoids go on
            without end, and so do rotary ones.
        decoder_mask: keeps target positions from attending to later ones (section 3.2.3). A model
            trained without sees each answer beforehand, and has nothing to see when it translates.
        shared_embeddings: "all" ties source, target and output matrices, as the paper does;
            "target" ties target and output, "inputs" source and target; "none" ties nothing.
        decoder_start: what the decoder is fed first, beside the position: "bos" the embedding of
            ``bos_id``, "zero" a zero vector (Marian). There ``bos_id`` only names it.
        suppressed_ids: ids that are no outputs: their score is −∞, so that the probabilities of
            all others add up to 1 (padding, in Marian's models).
        unchosen_ids: ids that a search never chooses, beside padding and begin, and that keep
            their probability (the unknown token, in Marian's searches).
        pruned_heads: heads that were taken out, each as ``Head.code`` writes it; all others keep
            their numbers, and a layer may have lost all of its heads.
        bias: biases in the attention projections (the paper names none; its code had none, most
            later ones do). The feed-forward layers always have theirs (equation 2).
        pad_id, unk_id, bos_id, eos_id: the special tokens, the same in both vocabularies; all
            differ, except that begin may be padding (transformers' Marian models).
    """

    vocab_size: int
    target_vocab_size: int | None = None
    d_model: int = 512
    encoder_layers: int = 6
    decoder_layers: int = 6
    encoder_heads: int = 8
    decoder_heads: int = 8
    encoder_d_ff: int = 2048
    decoder_d_ff: int = 2048
    d_k: int | None = None
    d_v: int | None = None
    activation: str = "relu"
    norm: str = "post"
    top_norm: bool | None = None
    norm_epsilon: float = 1e-5
    positions: str = "sinusoidal"
    position_layout: str = "interleaved"
    position_denominator: str = "d_model"
    position_precision: str = "float32"
    max_positions: int = 1024
    decoder_mask: bool = True
    shared_embeddings: str = "all"
    scale_embedding: bool = True
    bias: bool = True
    output_bias: bool = False
    decoder_start: str = "bos"
    suppressed_ids: tuple[int, ...] = ()
    unchosen_ids: tuple[int, ...] = ()
    dropout: float = 0.1
    pruned_heads: tuple[str, ...] = ()
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for field in (
            "d_model",
            "encoder_layers",
            "decoder_layers",
            "encoder_heads",
            "decoder_heads",
            "encoder_d_ff",
            "decoder_d_ff",
            "max_positions",
        ):
            require(getattr(self, field) >= 1, field, getattr(self, field), "1 or more")
        for field, most in _MOST.items():
            require(getattr(self, field) <= most, field, getattr(self, field), f"{most:,} at most")
        for field in ("d_k", "d_v"):
            value = getattr(self, field)
            require(value is None or value >= 1, field, value, "1 or more, or null")
        if self.d_k is None:
            for field in ("encoder_heads", "decoder_heads"):
                heads = getattr(self, field)
                require(
                    self.d_model % heads == 0,
                    field,
                    heads,
                    f"a divisor of d_model = {self.d_model}, or set d_k",
                )
        require(self.d_model % 2 == 0, "d_model", self.d_model, "an even number")
        require(self.d_model >= 4, "d_model", self.d_model, "4 or more")
        require_choice("activation", self.activation, ("relu", "gelu", "silu"))
        require_choice("norm", self.norm, ("post", "pre"))
        require(self.norm_epsilon > 0, "norm_epsilon", self.norm_epsilon, "above 0")
        require_choice("positions", self.positions, POSITIONS)
        if self.positions == "rotary":
            for field in ("encoder_d_k", "decoder_d_k"):
                value = getattr(self, field)
                require(value % 2 == 0, "d_k", value, "an even number with rotary positions")
        require_choice("position_layout", self.position_layout, ("interleaved", "halves"))
        require_choice("position_denominator", self.position_denominator, ("d_model", "d_model-2"))
        require_choice("position_precision", self.position_precision, ("float32", "float16"))
        require_choice("shared_embeddings", self.shared_embeddings, self._possible_sharing())
        require_choice("decoder_start", self.decoder_start, ("bos", "zero"))
        require_share("dropout", self.dropout)
        for code in self.pruned_heads:
            self._require_numbers(read_code(code))
        self._check_ids()

    def _possible_sharing(self) -> tuple[str, ...]:
        if self.target_vocab_size is None:
            return ("all", "target", "inputs", "none")
        return ("target", "none")

    def _check_ids(self) -> None:
        specials = (self.pad_id, self.unk_id, self.bos_id, self.eos_id)
        for field, size in (
            ("vocab_size", self.vocab_size),
            ("target_vocab_size", self.target_vocabulary),
        ):
            allowed = f"more than the largest special id, {max(specials)}"
            require(size > max(specials), field, size, allowed)
        require(min(specials) >= 0, "special ids", specials, "0 or more")
        different = len({self.pad_id, self.unk_id, self.eos_id}) == 3
        different &= self.bos_id not in (self.unk_id, self.eos_id)
        allowed = "four different ids, of which begin alone may be that of padding"
        require(different, "special ids", specials, allowed)
        for field in ("suppressed_ids", "unchosen_ids"):
            ids = getattr(self, field)
            within = all(0 <= id < self.target_vocabulary for id in ids)
            require(
                within and self.eos_id not in ids,
                field,
                ids,
                f"ids below {self.target_vocabulary} without the end token, {self.eos_id}",
            )

    @property
    def target_vocabulary(self) -> int:
        """The number of rows of the target embedding and of the output."""
        return self.vocab_size if self.target_vocab_size is None else self.target_vocab_size

    @property
    def has_top_norm(self) -> bool:
        return self.norm == "pre" if self.top_norm is None else self.top_norm

    @property
    def encoder_d_k(self) -> int:
        return self.d_k or self.d_model // self.encoder_heads

    @property
    def decoder_d_k(self) -> int:
        return self.d_k or self.d_model // self.decoder_heads

    @property
    def encoder_d_v(self) -> int:
        return self.d_v or self.encoder_d_k

    @property
    def decoder_d_v(self) -> int:
        return self.d_v or self.decoder_d_k

    def layers(self, kind: AttentionKind) -> int:
        encoder = kind is AttentionKind.ENCODER_SELF
        return self.encoder_layers if encoder else self.decoder_layers

    def heads(self, kind: AttentionKind) -> int:
        """Return the number of heads of each layer, including pruned ones."""
        encoder = kind is AttentionKind.ENCODER_SELF
        return self.encoder_heads if encoder else self.decoder_heads

    def kept_heads(self, kind: AttentionKind, layer: int) -> tuple[int, ...]:
        """The heads of a layer, without those that were pruned."""
        every = range(self.heads(kind))
        return tuple(
            head for head in every if Head(kind, layer, head).code not in self.pruned_heads
        )

    def every_head(self) -> tuple[Head, ...]:
        """Return all heads that are left, in reading order."""
        return tuple(
            Head(kind, layer, head)
            for kind in AttentionKind
            for layer in range(self.layers(kind))
            for head in self.kept_heads(kind, layer)
        )

    def require_head(self, head: Head) -> None:
        """Raise UserError unless the model has this head."""
        self._require_numbers(head)
        if head.code in self.pruned_heads:
            raise UserError(f"The head {head.name} was pruned from this model.")

    def _require_numbers(self, head: Head) -> None:
        layers, heads = self.layers(head.kind), self.heads(head.kind)
        if not (0 <= head.layer < layers and 0 <= head.head < heads):
            raise UserError(
                f"The model has no head {head.name}: in {head.kind.stem}:LAYER.HEAD "
                f"LAYER is 1 to {layers} and HEAD 1 to {heads}."
            )

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """Raises UserError for an unknown key, a missing one, or a value that is not allowed."""
        return from_mapping(cls, values)
