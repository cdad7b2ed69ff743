"""The rows of Table 3 at a size one can afford, by one rule for all of them.

A scale divides the widths of a row's model and its layers, and gives all rows the same data. Heads,
dropout, label smoothing and positions stay, and so do all ratios: of d_k to d_model / h, of d_ff to
d_model, and of a row's layers and updates to the base model's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from core.config import ModelConfig
from core.errors import UserError
from core.paper.variations import VARIATIONS
from core.presets import base, preset
from core.training.config import RunConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much smaller the rows become.

    Attributes:
        widths, layers: what d_model, d_ff, d_k and d_v, and what the layers are divided by; a
            layer and a width of 1 remain.
        settings: of the training of the base model; a row changes its label smoothing, and the
            number of updates where the paper does.
    """

    name: str
    widths: int
    layers: int
    settings: dict[str, Any]


SMALL = Scale(
    name="small",
    widths=8,
    layers=2,
    settings={
        "vocab_size": 1_200,
        "grammar_pairs": 20_000,
        "validation_pairs": 300,
        "max_length": 128,
        "source_batch_tokens": 1_000,
        "target_batch_tokens": 1_000,
        "steps": 3_000,
        "warmup": 500,
        "peak_factor": 0.75,
        "cooldown": 0.2,
        "init_scale": 0.5,
        "validate_every": 1_500,
        "checkpoint_every": 500,
        "keep_checkpoints": 1,
        "average_last": 1,
        "device": "cpu",
        "threads": 1,
    },
)
SCALES = {SMALL.name: SMALL}
MOST_SEEDS = 20
"""Runs of a row."""

BEYOND: dict[str, tuple[str, dict[str, Any]]] = {
    "no-positions": ("without positions", {"positions": "none"}),
    "no-mask": ("without the decoder's mask", {"decoder_mask": False}),
}
"""Rows that the paper lacks: what they change and how."""

ORDER = (
    *("base", "a-heads-1", "d-dropout-0.0", "d-smoothing-0.0", "e-learned", "no-positions"),
    *("c-layers-2", "b-dk-16", "c-d_model-256", "c-d_ff-1024", "a-heads-4", "a-heads-16"),
    *("a-heads-32", "b-dk-32", "c-layers-4", "d-dropout-0.2", "d-smoothing-0.2", "no-mask"),
    *("c-d_ff-4096", "c-layers-8", "c-d_model-1024", "big"),
)
"""The rows in the order of interest: those first that change most or cost least."""

CHANGES = {one.preset: one.change for one in VARIATIONS} | {
    name: change for name, (change, _) in BEYOND.items()
}
"""What each row changes, in words."""


def scaled(row: str, scale: Scale) -> RunConfig:
    """Return the configuration of a row's small counterpart.

    Raises:
        UserError: there is no such row, or a setting is not allowed.
    """
    if row not in CHANGES:
        raise UserError(f"Table 3 has no row {row!r}; its rows are: {', '.join(ORDER)}.")
    _, extra = BEYOND.get(row, ("", {}))
    paper = base().with_settings(extra) if row in BEYOND else preset(row)
    usual = base().training
    steps = scale.settings.get("steps", usual.steps) * paper.training.steps // usual.steps
    shrunk = RunConfig(model=_shrunk(paper.model, scale), training=usual)
    smoothing = {"label_smoothing": paper.training.label_smoothing, "steps": steps}
    return shrunk.with_settings(scale.settings | smoothing)


def _shrunk(model: ModelConfig, scale: Scale) -> ModelConfig:
    def divided(size: int | None, by: int) -> int | None:
        return None if size is None else max(1, size // by)

    widths = ("d_model", "encoder_d_ff", "decoder_d_ff", "d_k", "d_v")
    smaller = {name: divided(getattr(model, name), scale.widths) for name in widths}
    for name in ("encoder_layers", "decoder_layers"):
        smaller[name] = divided(getattr(model, name), scale.layers)
    return dataclasses.replace(model, **smaller)  # type: ignore[arg-type]
