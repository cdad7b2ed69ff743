"""The card says what the file says, and leaves out what it does not."""

from __future__ import annotations

from typing import Any

from core.checkpoints.card import model_card
from core.checkpoints.header import Header
from core.config import ModelConfig

CONFIG = ModelConfig(
    vocab_size=4000,
    d_model=128,
    encoder_layers=3,
    decoder_layers=2,
    encoder_heads=4,
    decoder_heads=8,
    encoder_d_ff=512,
    decoder_d_ff=512,
)
PAIR = {"first": 99.0, "second": 98.5, "both": 97.5}
PROVENANCE: dict[str, Any] = {
    "source": "somebody/plain",
    "revision": "0123abc",
    "data": ["grammar", "train.tsv"],
    "licence": "somebody, CC BY 2.0 FR",
    "command": "transformer-viz train plain",
    "seed": 7,
    "step": 12000,
    "averaged": 5,
    "training": {"warmup": 800, "data": ["grammar"], "clip_norm": None},
    "known_words": ["the"],
    "scores": {
        "validation_loss": 0.1,
        "dev.tsv": {
            "sentences": 1000,
            "bleu": 48.44,
            "chrf": 66.12,
            "bleu_signature": "B",
            "chrf_signature": "C",
            "beam": 4,
            "alpha": 0.6,
        },
        "gold": {
            "sentences": 1000,
            "pairs": 600,
            "exact": 98.7,
            "exact_by_family": {"passive": 99.0},
            "pronoun_forced": PAIR,
            "pronoun_decoded": PAIR,
            "encoder_head": {"layer": 1, "head": 2, "antecedent": PAIR, "weight": 0.9},
            "cross_head": {"layer": 0, "head": 0, "antecedent": PAIR, "weight": 0.1},
            "beam": 1,
            "alpha": 0.6,
        },
    },
}


def test_everything_is_there() -> None:
    card = model_card("plain-en-de", Header(CONFIG, PROVENANCE, 1_900_544))
    for line in (
        "# plain-en-de",
        "| source | somebody/plain |",
        "| revision | 0123abc |",
        "| data | grammar, train.tsv |",
        "| licence | somebody, CC BY 2.0 FR |",
        "| command | `transformer-viz train plain` |",
        "| updates | 12,000 |",
        "| weights | average of the last 5 checkpoints |",
        "## Scores on dev.tsv",
        "| BLEU | 48.4 `B` |",
        "| search | beam 4, length penalty α = 0.6 |",
        "| search | greedy |",
        "| exact translations | 98.7% of 1,000 |",
        "| · passive | 99.0% |",
        "| encoder self-attention, layer 2, head 3: most weight on the antecedent | 99.0% | 98.5% "
        "| 97.5% |",
        "| warmup | 800 |",
    ):
        assert line in card.splitlines()
    assert "1,900,544 parameters: 3 + 2 layers, d_model 128, 4 + 8 heads" in card
    assert "clip_norm" not in card
    assert "known_words" not in card


def test_other_forms_of_the_length_penalty_are_named() -> None:
    gold = PROVENANCE["scores"]["gold"]
    for penalty, said in (
        ("gnmt", "beam 4, length penalty α = 0.6"),
        ("length", "beam 4, length penalty |Y|^α with α = 0.6"),
        ("none", "beam 4, no length penalty"),
    ):
        scores = {"gold": {**gold, "beam": 4, "alpha": 0.6, "penalty": penalty}}
        assert f"| search | {said} |" in model_card("m", Header(CONFIG, {"scores": scores}, 10))


def test_a_model_without_heads_of_a_kind() -> None:
    gold = {**PROVENANCE["scores"]["gold"], "cross_head": None}
    card = model_card("pruned", Header(CONFIG, {"scores": {"gold": gold}}, 10))
    assert "| encoder self-attention, layer 2" in card
    assert "| cross-attention" not in card


def test_a_file_that_says_nothing_has_a_card_of_its_shape_alone() -> None:
    card = model_card("other", Header(CONFIG, {}, 10))
    assert card.startswith("# other\n\nA Transformer with 10 parameters")
    assert "##" not in card
