"""Every setting of a run: its group, what it means, and how it is typed."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.config import POSITIONS, ModelConfig
from core.heads import read_code, read_head
from core.model.product_choice import WISHES
from core.training.config import RunConfig, TrainingConfig
from transformer_viz.state.typed_numbers import read_decimal, read_whole
from transformer_viz.training.setting_words import WORDS, Words

TARGET = "=>"
"""Stands for the tab between a probe and its translation: Tab leads to the next field."""
_TARGET = re.compile(rf"\s*(?:\t|⇥|{TARGET})\s*")
PRUNED_HEADS = "pruned_heads"
COMMON = "Common settings"
REST = "Others"
GROUPS: dict[str, tuple[str, ...]] = {
    COMMON: (
        *("steps", "source_batch_tokens", "target_batch_tokens", "warmup", "peak_factor"),
        *("vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_heads"),
        *("decoder_heads", "encoder_d_ff", "decoder_d_ff", "dropout", "label_smoothing"),
        *("device", "precision", "seed"),
    ),
    "Data": (
        *("task", "grammar_pairs", "grammar_wide", "validation_pairs", "whole_words"),
        *("max_length", "licence"),
    ),
    "Recipe": (
        *("accumulation", "cooldown", "clip_norm", "adam_beta1", "adam_beta2", "adam_epsilon"),
        *("gloss_weight", "start_from", "init_scale"),
    ),
    "Logging, checkpoints and probes": (
        *("log_every", "validate_every", "checkpoint_every", "keep_checkpoints", "average_last"),
        *("early_stopping", "best_by", "keep_best", "probes", "probe_points", "tensorboard"),
    ),
    "Machine": ("threads", "product", "tf32", "compile"),
    "Model size": (
        *("d_k", "d_v", "activation", "norm", "norm_epsilon", "bias", "output_bias"),
        *("shared_embeddings", "scale_embedding", "decoder_start", "decoder_mask"),
    ),
    "Positions": ("positions", "position_layout", "position_denominator", "max_positions"),
    "Special token ids": ("pad_id", "unk_id", "bos_id", "eos_id"),
}
OF_IMPORTS = (
    *("target_vocab_size", "top_norm", "suppressed_ids", "unchosen_ids", "position_precision"),
)
ELSEWHERE = (  # have controls of their own, or none
    *("data", "validation", "grammar_families"),
    *OF_IMPORTS,
)

CHOICES: dict[str, tuple[str, ...]] = {
    "activation": ("relu", "gelu", "silu"),
    "norm": ("post", "pre"),
    "positions": POSITIONS,
    "position_layout": ("interleaved", "halves"),
    "position_denominator": ("d_model", "d_model-2"),
    "shared_embeddings": ("all", "target", "inputs", "none"),
    "decoder_start": ("bos", "zero"),
    "precision": ("fp32", "bf16", "fp16", "fp64"),
    "task": ("translation", "parsing"),
    "best_by": ("valid_loss", "bleu"),
    "product": WISHES,
}


@dataclass(frozen=True, slots=True)
class Field:
    """One setting.

    Attributes:
        choices: what it may be, where that is a short list.
        optional: whether nothing may be typed.
        kind: int, float, bool, str, or tuple for texts, one in each line.
    """

    name: str
    kind: type
    optional: bool
    choices: tuple[str, ...]

    @property
    def label(self) -> str:
        return self._words.label

    @property
    def meaning(self) -> str:
        return self._words.meaning

    @property
    def empty(self) -> str:
        """What nothing typed stands for."""
        return self._words.empty

    @property
    def _words(self) -> Words:
        """A setting that nobody has put into words yet goes by its name."""
        return WORDS.get(self.name) or Words(self.name, "")

    def show(self, value: Any) -> str:
        """The value as it is typed."""
        if value is None:
            return ""
        if self.name == PRUNED_HEADS:
            return "\n".join(read_code(code).name for code in value)
        if isinstance(value, tuple):
            return "\n".join(value).replace("\t", f" {TARGET} ")
        if isinstance(value, float):
            return f"{value:g}"
        return str(value)

    def read(self, text: str) -> Any:
        """What was typed, as a value for the configuration to check.

        Raises:
            UserError: if a number or heads are asked for and the text is none.
        """
        if self.name == PRUNED_HEADS:
            return tuple(read_head(line.strip()).code for line in text.split("\n") if line.strip())
        if self.kind is tuple:
            lines = (line.strip() for line in text.split("\n"))
            return tuple(_TARGET.sub("\t", line) for line in lines if line)
        text = text.strip()
        if not text and self.optional:
            return None
        if self.kind is int:
            return read_whole(text)
        return read_decimal(text) if self.kind is float else text


def all_fields() -> dict[str, list[Field]]:
    """The settings of both parts by group, those that no group names in the last one."""
    known = {field.name: field for part in (TrainingConfig, ModelConfig) for field in _fields(part)}
    groups = {
        group: [known.pop(name) for name in names if name in known]
        for group, names in GROUPS.items()
    }
    return {**groups, **({REST: rest} if (rest := list(known.values())) else {})}


def values(config: RunConfig) -> dict[str, Any]:
    return {**config.model.to_dict(), **config.training.to_dict()}


def in_words(message: str) -> str:
    """A sentence of the configuration about settings, in the words of the form."""
    message = message.replace("or null", "or nothing").replace("after one tab", f"after {TARGET}")
    for name, words in WORDS.items():
        if "_" in name and name != words.label:
            message = re.sub(rf"\b{name}\b( = )?", partial(_quoted, words.label), message)
    return message


def _quoted(label: str, found: re.Match[str]) -> str:
    return f"“{label.partition(',')[0]}”{found[1] or ''}"


def _fields(part: type) -> list[Field]:
    made = []
    hints = typing.get_type_hints(part)
    for name in (field.name for field in dataclasses.fields(part)):
        if name in ELSEWHERE:
            continue
        kinds = [kind for kind in _options(hints[name]) if kind is not types.NoneType]
        kind = typing.get_origin(kinds[0]) or kinds[0]
        made.append(
            Field(
                name=name,
                kind=kind,
                optional=len(kinds) < len(_options(hints[name])),
                choices=CHOICES.get(name, ()),
            )
        )
    return made


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return typing.get_args(hint)
    return (hint,)
