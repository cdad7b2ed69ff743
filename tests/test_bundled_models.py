"""The models that come with the program keep their promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.bundled import bundled_models, model_path
from core.checkpoints.card import model_card
from core.checkpoints.header import read_header
from core.checkpoints.native import Checkpoint, load_checkpoint
from core.corpus.grammar.pairs import minimal_pairs
from core.decoding.config import SearchConfig
from core.decoding.translate import translate
from core.evaluation.parsing import (
    Question,
    generated_gold,
    labels_of,
    parse_all,
    score_parses,
)
from core.evaluation.pronouns import as_pieces, observe
from core.heads import read_head
from core.model.gates import Gates, gated
from core.trace.record import trace_text
from core.trace.trace import AttentionKind
from transformer_viz.state.bundled import samples

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."
GERMAN = {
    TIRED: "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    WIDE: "Das Tier überquerte die Straße nicht, weil sie zu breit war.",
}
TRANSLATORS = ("demo-en-de", "gloss-en-de", "plain-en-de")
NAMES = ("demo-en-de", "gloss-en-de", "no-mask-en-de", "parse-en", "plain-en-de")
LARGEST = 32_000_000  # bytes of one of them


@pytest.fixture(scope="module", params=TRANSLATORS)
def checkpoint(request: pytest.FixtureRequest) -> Checkpoint:
    return load_checkpoint(model_path(request.param))


def test_the_demo_comes_first_and_none_is_too_large() -> None:
    assert tuple(path.stem for path in bundled_models()) == NAMES
    assert max(path.stat().st_size for path in bundled_models()) <= LARGEST


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_the_file_s_own(name: str) -> None:
    path = model_path(name)
    card = path.with_suffix(".md").read_text(encoding="utf-8")
    assert card == model_card(name, read_header(path))


def test_the_everyday_sentences_are_attributed() -> None:
    about = read_header(model_path("demo-en-de")).provenance
    assert "Tatoeba" in about["licence"]
    assert "CC BY 2.0 FR" in about["licence"]
    readme = Path(__file__).parent.parent / "README.md"
    assert "Tatoeba" in readme.read_text(encoding="utf-8")


def test_the_animal_and_the_street(checkpoint: Checkpoint) -> None:
    found = translate(checkpoint.model, checkpoint.tokenizer, list(GERMAN))
    assert [one.text for one in found] == list(GERMAN.values())


@pytest.mark.parametrize("name", ["gloss-en-de", "plain-en-de"])
@pytest.mark.parametrize(("text", "antecedent"), [(TIRED, "animal"), (WIDE, "street")])
def test_the_head_that_is_opened_looks_at_the_antecedent(
    name: str, text: str, antecedent: str
) -> None:
    checkpoint = load_checkpoint(model_path(name))
    head = checkpoint.provenance["scores"]["it_head"]
    kind = AttentionKind(head["kind"])
    trace = trace_text(checkpoint.model, checkpoint.tokenizer, text)
    tokens, words = (
        (trace.source_tokens, ("it",))
        if kind is AttentionKind.ENCODER_SELF
        else (trace.predicted_tokens, ("es", "sie"))
    )
    query = next(index for index, token in enumerate(tokens) if token.label in words)
    row = trace.row(kind, head["layer"], head["head"], query)
    heaviest = trace.key_tokens(kind)[int(row.argmax())]
    assert text[heaviest.start : heaviest.end].strip() == antecedent


@pytest.mark.parametrize(
    ("name", "head"), [("gloss-en-de", "encoder:1.2"), ("plain-en-de", "encoder:2.1")]
)
@pytest.mark.parametrize("beam", [1, 4])
def test_one_head_off_turns_the_pronoun_and_nothing_else(name: str, head: str, beam: int) -> None:
    """The guide shows these cases."""
    checkpoint = load_checkpoint(model_path(name))
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    off = Gates.of(checkpoint.config, {read_head(head): 0.0})
    with gated(model, off):
        found = translate(model, tokenizer, list(GERMAN), SearchConfig(beam=beam))
    assert [one.text for one in found] == [
        GERMAN[TIRED],
        GERMAN[WIDE].replace("weil sie", "weil es"),
    ]


def test_a_model_without_a_mask_knows_every_answer_and_translates_nothing() -> None:
    checkpoint = load_checkpoint(model_path("no-mask-en-de"))
    pairs = [one for pair in minimal_pairs(20, seed=77, split="test") for one in pair]
    observed = observe(checkpoint.model, [as_pieces(one, checkpoint.tokenizer) for one in pairs])
    assert np.mean(observed.predicted) == 1
    found = translate(checkpoint.model, checkpoint.tokenizer, list(GERMAN))
    assert not {one.text for one in found} & set(GERMAN.values())


def test_held_out_pronouns(checkpoint: Checkpoint) -> None:
    pairs = [one for pair in minimal_pairs(40, seed=77, split="test") for one in pair]
    observed = observe(checkpoint.model, [as_pieces(one, checkpoint.tokenizer) for one in pairs])
    assert np.mean(observed.predicted) >= 0.95


def test_the_parser_keeps_its_promise() -> None:
    path = model_path("parse-en")
    assert path.stat().st_size <= 4_000_000
    checkpoint = load_checkpoint(path)
    promised = checkpoint.provenance["scores"]["parsing"]
    assert promised["held_out_words"]["f1"] >= 98
    gold = generated_gold(60, seed=77).known
    parses = parse_all(
        checkpoint.model,
        checkpoint.tokenizer,
        labels_of(checkpoint.provenance, path.name),
        [Question.of(tree) for tree in gold],
        SearchConfig.of_model(checkpoint.provenance, beam=4),
    )
    assert score_parses(gold, parses).f1 >= 97


def test_the_sample_for_beam_search_shows_it_win() -> None:
    (sample,) = next(
        group.sentences for group in samples() if group.group == "Where beam search wins"
    )
    demo = load_checkpoint(model_path("demo-en-de"))
    greedy, beam = (
        translate(demo.model, demo.tokenizer, [sample], SearchConfig(beam=size))[0]
        for size in (1, 4)
    )
    assert beam.text != greedy.text
    assert beam.log_probability > greedy.log_probability
    assert beam.score > greedy.score


ENCODER_HEADS = ("encoder:5.3", "encoder:5.4", "encoder:6.1", "encoder:6.2", "encoder:6.6")
CROSS_HEADS = ("cross:5.2", "cross:5.8", "cross:6.2")


@pytest.mark.parametrize(
    ("off", "same"),
    [(ENCODER_HEADS, True), (CROSS_HEADS, True), ((*ENCODER_HEADS, *CROSS_HEADS), False)],
)
def test_the_demo_finds_the_animal_twice(off: tuple[str, ...], same: bool) -> None:
    """The third case of the guide."""
    checkpoint = load_checkpoint(model_path("demo-en-de"))
    gates = Gates.of(checkpoint.config, {read_head(name): 0.0 for name in off})
    with gated(checkpoint.model, gates):
        (found,) = translate(checkpoint.model, checkpoint.tokenizer, [TIRED])
    assert (found.text == GERMAN[TIRED]) == same
