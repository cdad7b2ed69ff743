"""Named configurations: the paper's models, every row of its Table 3, and the bundled models."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from core.config import ModelConfig
from core.errors import UserError
from core.training.config import PARSING, RunConfig, TrainingConfig

WMT_VOCABULARY = 37_000
WMT_FRENCH_VOCABULARY = 32_000
SAMPLE_WORDS = (
    *("Attention", "Law", "Yesterday", "animal", "application", "bank", "deep", "difficult"),
    *("flooded", "garden", "governments", "houses", "journey", "just", "law", "laws", "lawyer"),
    *("majority", "making", "missing", "opinion", "perfect", "president", "process"),
    *("registration", "river", "spirit", "street", "tired", "voting", "wide", "2009"),
)
"""Words of the sentences that are shown as samples, of which ordinary text has some seldom."""


def base() -> RunConfig:
    """Section 5; the mean of the last five checkpoints (section 6.1)."""
    return RunConfig(model=ModelConfig(vocab_size=WMT_VOCABULARY), training=TrainingConfig())


def big() -> RunConfig:
    """Table 3, last row; the mean of the last twenty checkpoints (section 6.1).

    They are ten minutes apart: 600 updates of 1.0 s (section 5.2), where base has 1,500 of 0.4 s.
    """
    return RunConfig(
        model=ModelConfig(
            vocab_size=WMT_VOCABULARY,
            d_model=1024,
            encoder_heads=16,
            decoder_heads=16,
            encoder_d_ff=4096,
            decoder_d_ff=4096,
            dropout=0.3,
        ),
        training=TrainingConfig(
            steps=300_000, checkpoint_every=600, keep_checkpoints=20, average_last=20
        ),
    )


def big_en_fr() -> RunConfig:
    """The big model for English to French: less dropout (section 6.1), other pieces (5.1)."""
    return big().with_settings({"vocab_size": WMT_FRENCH_VOCABULARY, "dropout": 0.1})


def variation(*, label_smoothing: float = 0.1, **changes: Any) -> RunConfig:
    """The base model with one thing changed, without averaging, as Table 3 has it."""
    return RunConfig(
        model=dataclasses.replace(base().model, **changes),
        training=TrainingConfig(label_smoothing=label_smoothing, average_last=1),
    )


def plain() -> RunConfig:
    """Bundled: the generated corpus alone, by the paper's recipe."""
    return RunConfig(
        model=small_model(vocab_size=4_000, d_model=128, layers=3, heads=4, d_ff=512),
        training=TrainingConfig(
            grammar_pairs=20_000,
            validation_pairs=300,
            max_length=128,
            source_batch_tokens=1_000,
            target_batch_tokens=1_000,
            steps=14_000,
            warmup=800,
            peak_factor=0.75,
            cooldown=0.2,
            init_scale=0.5,
            validate_every=1_000,
            checkpoint_every=200,
        ),
    )


def gloss() -> RunConfig:
    """Bundled: as plain, with the gloss loss."""
    return plain().with_settings({"gloss_weight": 0.5, "steps": 12_000})


def heads() -> RunConfig:
    """Minutes until heads have taken on work that can be watched: encoder heads find what "it"
    means. Only sentences with that question, in small batches, because it is the number of updates
    that decides when they find it, and with a gloss loss that outweighs the other words.
    """
    return plain().with_settings(
        {
            "vocab_size": 1_200,
            "encoder_d_ff": 256,
            "decoder_d_ff": 256,
            "grammar_families": ("coreference",),
            "gloss_weight": 3.0,
            "source_batch_tokens": 600,
            "target_batch_tokens": 600,
            "steps": 2_400,
            "warmup": 400,
            "peak_factor": 0.6,
            "log_every": 20,
            "validate_every": 1_200,
            "validation_pairs": 100,
        }
    )


def demo() -> RunConfig:
    """For the bundled model of ordinary sentences: the paper's layers and heads on half its width.

    Its data is the generated corpus and what ``resources/recipes/demo.json`` makes of files.
    Besides width, dropout, batch and warm-up, the initial scale and the cool-down are not the
    paper's.
    """
    return RunConfig(
        model=dataclasses.replace(
            small_model(vocab_size=12_000, d_model=256, layers=6, heads=8, d_ff=1024), dropout=0.15
        ),
        training=TrainingConfig(
            grammar_pairs=40_000,
            grammar_wide=True,
            whole_words=SAMPLE_WORDS,
            validation_pairs=200,
            max_length=128,
            source_batch_tokens=1_250,
            target_batch_tokens=1_250,
            accumulation=2,
            steps=40_000,
            warmup=2_000,
            cooldown=0.2,
            init_scale=0.5,
            validate_every=1_000,
            checkpoint_every=150,
            keep_best=3,
        ),
    )


def parse() -> RunConfig:
    """Bundled: constituency trees of the generated corpus (section 6.3), by a small model.

    Trees have few words, so a third of plain's updates do, in batches of twice the tokens.
    """
    return plain().with_settings(
        {
            "task": PARSING,
            "vocab_size": 3_000,
            "grammar_wide": True,
            "target_batch_tokens": 2_000,
            "steps": 4_500,
            "warmup": 600,
            "validation_pairs": 200,
            "validate_every": 1_000,
            "probes": ("The animal didn't cross the street because it was too tired.",),
        }
    )


def tiny() -> RunConfig:
    """A minute's run to see that everything works; it learns little."""
    return RunConfig(
        model=small_model(vocab_size=600, d_model=32, layers=2, heads=2, d_ff=64),
        training=TrainingConfig(
            grammar_pairs=2_000,
            validation_pairs=50,
            max_length=128,
            source_batch_tokens=1_000,
            target_batch_tokens=1_000,
            steps=200,
            warmup=50,
            cooldown=0.2,
            init_scale=0.5,
            log_every=10,
            validate_every=100,
            checkpoint_every=50,
            keep_checkpoints=2,
            average_last=2,
        ),
    )


def small_model(
    *, vocab_size: int, d_model: int, layers: int, heads: int, d_ff: int
) -> ModelConfig:
    """A shape with the same encoder and decoder; the rest is the paper's."""
    return ModelConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_heads=heads,
        decoder_heads=heads,
        encoder_d_ff=d_ff,
        decoder_d_ff=d_ff,
    )


def _heads(heads: int) -> Callable[[], RunConfig]:
    return partial(variation, encoder_heads=heads, decoder_heads=heads)


def _layers(layers: int) -> Callable[[], RunConfig]:
    return partial(variation, encoder_layers=layers, decoder_layers=layers)


def _d_ff(d_ff: int) -> Callable[[], RunConfig]:
    return partial(variation, encoder_d_ff=d_ff, decoder_d_ff=d_ff)


PRESETS: dict[str, Callable[[], RunConfig]] = {
    "demo": demo,
    "plain": plain,
    "gloss": gloss,
    "parse": parse,
    "tiny": tiny,
    "heads": heads,
    "base": base,
    "big": big,
    "big-en-fr": big_en_fr,
    "a-heads-1": _heads(1),
    "a-heads-4": _heads(4),
    "a-heads-16": _heads(16),
    "a-heads-32": _heads(32),
    "b-dk-16": partial(variation, d_k=16, d_v=64),
    "b-dk-32": partial(variation, d_k=32, d_v=64),
    "c-layers-2": _layers(2),
    "c-layers-4": _layers(4),
    "c-layers-8": _layers(8),
    "c-d_model-256": partial(variation, d_model=256, d_k=32, d_v=32),
    "c-d_model-1024": partial(variation, d_model=1024, d_k=128, d_v=128),
    "c-d_ff-1024": _d_ff(1024),
    "c-d_ff-4096": _d_ff(4096),
    "d-dropout-0.0": partial(variation, dropout=0.0),
    "d-dropout-0.2": partial(variation, dropout=0.2),
    "d-smoothing-0.0": partial(variation, label_smoothing=0.0),
    "d-smoothing-0.2": partial(variation, label_smoothing=0.2),
    "e-learned": partial(variation, positions="learned"),
    "no-mask": lambda: plain().with_settings({"decoder_mask": False}),
    "no-positions": lambda: plain().with_settings({"positions": "none"}),
}

DESCRIPTIONS: dict[str, str] = {
    "demo": "6 + 6 layers, 8 heads, d_model 256: the generated corpus and ordinary sentences",
    "plain": "Bundled: 3 + 3 layers, 4 heads; generated corpus by the paper's recipe alone",
    "gloss": "Bundled: as plain, with the gloss loss, which makes heads find what “it” means",
    "parse": "3 + 3 layers, 4 heads: from a sentence to its constituency tree",
    "tiny": "2 + 2 layers, 2 heads: a minute's run to see that everything works",
    "heads": "3 + 3 layers, 4 heads, gloss loss: minutes until a head finds what “it” means",
    "base": "The paper's base model: 6 + 6 layers, 8 heads, d_model 512",
    "big": "The paper's big model: 16 heads, d_model 1024, d_ff 4096, dropout 0.3",
    "big-en-fr": "The big model for English to French: dropout 0.1, 32,000 pieces",
    "a-heads-1": "Table 3 (A): base with 1 head of 512",
    "a-heads-4": "Table 3 (A): base with 4 heads of 128",
    "a-heads-16": "Table 3 (A): base with 16 heads of 32",
    "a-heads-32": "Table 3 (A): base with 32 heads of 16",
    "b-dk-16": "Table 3 (B): base with keys of width 16",
    "b-dk-32": "Table 3 (B): base with keys of width 32",
    "c-layers-2": "Table 3 (C): base with 2 + 2 layers",
    "c-layers-4": "Table 3 (C): base with 4 + 4 layers",
    "c-layers-8": "Table 3 (C): base with 8 + 8 layers",
    "c-d_model-256": "Table 3 (C): base with d_model 256",
    "c-d_model-1024": "Table 3 (C): base with d_model 1024",
    "c-d_ff-1024": "Table 3 (C): base with d_ff 1024",
    "c-d_ff-4096": "Table 3 (C): base with d_ff 4096",
    "d-dropout-0.0": "Table 3 (D): base without dropout",
    "d-dropout-0.2": "Table 3 (D): base with dropout 0.2",
    "d-smoothing-0.0": "Table 3 (D): base without label smoothing",
    "d-smoothing-0.2": "Table 3 (D): base with label smoothing 0.2",
    "e-learned": "Table 3 (E): base with learned positions",
    "no-mask": "As plain, without the decoder's mask: an excellent loss, and no translations",
    "no-positions": "As plain, without positions: what does a model know of the order of words?",
}
"""One line on each preset."""


def preset(name: str) -> RunConfig:
    """Raises UserError for a name that is not in ``PRESETS``."""
    if name not in PRESETS:
        raise UserError(f"There is no preset {name!r}; there are: {', '.join(PRESETS)}.")
    return PRESETS[name]()
