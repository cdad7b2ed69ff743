"""Alignment error rates: closed forms, planted heads, and maps read cell by cell in float64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.alignment import (
    AlignmentErrors,
    AlignmentTally,
    alignment_error_rate,
    alignment_errors,
    diagonal,
)
from core.analysis.passes import recorded_passes
from core.analysis.pruning import prune
from core.analysis.words import Reading
from core.corpus.grammar.sentence import Sentence, word_spans
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.text.words import words_of_pieces
from core.trace.record import trace_text
from tests.core.analysis.gold_sentences import copied, generated, random_model, splitting_tokenizer
from tests.core.analysis.planted import planted

CROSS = AttentionKind.CROSS
FED, PREDICTED = Reading
LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


# --- the rate ---------------------------------------------------------------------------------


def test_an_example_by_hand() -> None:
    """Two of three found links are sure, the third possible; a third sure one is missing."""
    found = {(0, 0), (1, 1), (2, 3)}
    sure = {(0, 0), (1, 1), (2, 2)}
    possible = sure | {(2, 3)}
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - (2 + 3) / (3 + 3))


def test_nothing_to_compare_and_nothing_possible_are_said() -> None:
    with pytest.raises(ValueError, match="no alignment"):
        alignment_error_rate([], [], [(0, 0)])
    with pytest.raises(ValueError, match="not possible"):
        alignment_error_rate([(0, 0)], [(1, 1)], [(0, 0)])


@given(found=LINKS, sure=LINKS, more=LINKS)
def test_between_none_and_all(
    found: set[tuple[int, int]], sure: set[tuple[int, int]], more: set[tuple[int, int]]
) -> None:
    possible = sure | more
    if not found | sure:
        return
    rate = alignment_error_rate(found, sure, possible)
    assert 0.0 <= rate <= 1.0
    assert (rate == 0.0) == (sure <= found <= possible)
    assert (rate == 1.0) == (not found & possible)


@given(found=LINKS, sure=LINKS)
def test_with_sure_links_alone_it_is_one_minus_f1(
    found: set[tuple[int, int]], sure: set[tuple[int, int]]
) -> None:
    if not found & sure:
        return
    precision, recall = len(found & sure) / len(found), len(found & sure) / len(sure)
    f1 = 2 * precision * recall / (precision + recall)
    assert alignment_error_rate(found, sure, sure) == pytest.approx(1 - f1)


# --- planted heads ------------------------------------------------------------------------------

COPIED = [copied("the dog saw the cat ."), copied("a child heard it")]


def of_head(errors: AlignmentErrors, layer: int, head: int) -> float:
    return float(errors.of_heads[errors.heads.index(Head(CROSS, layer, head))])


@pytest.fixture(scope="module")
def known() -> dict[Reading, AlignmentErrors]:
    checkpoint = planted()
    return alignment_errors(checkpoint.model, checkpoint.tokenizer, COPIED)


def test_a_diagonal_head_aligns_what_its_rows_predict(
    known: dict[Reading, AlignmentErrors],
) -> None:
    assert of_head(known[PREDICTED], 0, 0) == 0.0  # Offset(0)
    assert of_head(known[FED], 0, 0) == 1.0  # row t + 1 looks one word too far
    assert of_head(known[PREDICTED], 1, 2) == 1.0  # Offset(1)
    assert known[PREDICTED].heads[known[PREDICTED].best] == Head(CROSS, 0, 0)


def test_the_same_head_aligns_what_its_rows_are_fed() -> None:
    """Where each word is the translation of the one after it; the last two have none."""
    links = tuple((word + 1, word) for word in range(4))
    checkpoint = planted()
    sentences = [replace(COPIED[0], alignment=links)]
    errors = alignment_errors(checkpoint.model, checkpoint.tokenizer, sentences)[FED]
    assert of_head(errors, 0, 0) == pytest.approx(1 - 2 * 4 / (6 + 4))  # Offset(0)
    assert errors.least == pytest.approx(1 - 2 * 4 / (6 + 4))


def test_what_a_copy_allows(known: dict[Reading, AlignmentErrors]) -> None:
    for errors in known.values():
        assert errors.least == 0.0
        assert errors.diagonal == 0.0


# --- read cell by cell --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return generated()[::2]


@pytest.fixture(scope="module")
def tokenizer(sentences: list[Sentence]) -> Tokenizer:
    return splitting_tokenizer(sentences)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Transformer:
    return random_model(tokenizer)


def maps_over_words(
    model: Transformer, tokenizer: Tokenizer, sentence: Sentence, reading: Reading
) -> np.ndarray:
    """[L, H, target words, source words] in float64, from the trace of the one sentence."""
    trace = trace_text(model, tokenizer, sentence.source, target=sentence.target)
    source = words_of_pieces(tokenizer.tokens(sentence.source), word_spans(sentence.source_words))
    target = words_of_pieces(tokenizer.tokens(sentence.target), word_spans(sentence.target_words))
    shift = 1 if reading is FED else 0
    layers = trace.layers(CROSS)
    maps = np.zeros(
        (
            layers,
            model.config.decoder_heads,
            len(sentence.target_words),
            len(sentence.source_words),
        )
    )
    for layer in range(layers):
        weights = trace.layer_weights(CROSS, layer).astype(np.float64)
        for row, word in enumerate(target):
            for column, source_word in enumerate(source):
                maps[layer, :, word, source_word] += weights[:, row + shift, column] / target.count(
                    word
                )
    return maps


@pytest.mark.parametrize("reading", Reading)
def test_every_rate_is_what_the_maps_say(
    model: Transformer, tokenizer: Tokenizer, sentences: list[Sentence], reading: Reading
) -> None:
    errors = alignment_errors(model, tokenizer, sentences)[reading]
    gold: set[tuple[int, int, int]] = set()
    found: dict[tuple[int, int], set[tuple[int, int, int]]] = {}
    for index, sentence in enumerate(sentences):
        gold |= {(index, *link) for link in sentence.alignment}
        maps = maps_over_words(model, tokenizer, sentence, reading)
        with_mean = np.concatenate([maps, maps.mean(axis=1, keepdims=True)], axis=1)
        for layer, head, word in np.ndindex(with_mean.shape[:3]):
            if with_mean[layer, head, word].sum() > 0:
                linked = (index, int(with_mean[layer, head, word].argmax()), word)
                found.setdefault((layer, head), set()).add(linked)
    of_heads = model.config.decoder_heads
    for (layer, head), links in found.items():
        flat = {(index * 1000 + source, index * 1000 + word) for index, source, word in links}
        sure = {(index * 1000 + source, index * 1000 + word) for index, source, word in gold}
        expected = alignment_error_rate(flat, sure, sure)
        ours = errors.of_layers[layer] if head == of_heads else of_head(errors, layer, head)
        assert ours == pytest.approx(expected, abs=1e-12)
    assert errors.least <= errors.of_heads.min()


def test_batches_do_not_matter(
    model: Transformer, tokenizer: Tokenizer, sentences: list[Sentence]
) -> None:
    told: list[int] = []
    whole = alignment_errors(model, tokenizer, sentences, progress=told.append)
    assert told[-1] == len(sentences)
    tally = AlignmentTally(tokenizer, sentences)
    for passed in recorded_passes(model, tally.pairs, batch_tokens=60):
        tally.add(passed)
    for reading, errors in tally.errors().items():
        np.testing.assert_allclose(errors.of_heads, whole[reading].of_heads)
        np.testing.assert_allclose(errors.of_layers, whole[reading].of_layers)
        assert errors.diagonal == whole[reading].diagonal


def test_the_diagonal_stays_inside(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        places = [diagonal(word, sentence) for word in range(len(sentence.target_words))]
        assert places[0] == 0
        assert places == sorted(places)
        assert places[-1] < len(sentence.source_words)


def test_of_a_pruned_model_the_heads_that_are_left() -> None:
    """They keep their numbers and their links; a layer without heads has no mean map."""
    checkpoint = planted()
    closed = [Head(CROSS, 0, 1), *(Head(CROSS, 1, head) for head in range(4))]
    smaller = prune(checkpoint.model, closed)
    errors = alignment_errors(smaller, checkpoint.tokenizer, COPIED)[PREDICTED]
    assert errors.heads == tuple(Head(CROSS, 0, head) for head in (0, 2, 3))
    assert of_head(errors, 0, 0) == 0.0  # Offset(0); the others rest on no word more than others
    assert np.isnan(errors.of_layers).tolist() == [False, True]
    assert errors.to_dict()["layers"][1] is None
    best = errors.to_dict()["best"]
    assert best == {"layer": 0, "head": 0, "name": "cross:1.1", "error": 0.0}


def test_pruning_moves_no_rate_to_another_head() -> None:
    """Of two that look at a word of their own in every row, so that rounding decides nothing."""
    checkpoint = planted()
    kept = (Head(CROSS, 0, 0), Head(CROSS, 1, 3))  # Offset(0), On(".")
    every = [Head(CROSS, layer, head) for layer in range(2) for head in range(4)]
    smaller = prune(checkpoint.model, [head for head in every if head not in kept])
    sentences = [copied("the dog saw the cat ."), copied("a child heard it .")]
    errors = alignment_errors(smaller, checkpoint.tokenizer, sentences)[PREDICTED]
    assert errors.heads == kept
    assert of_head(errors, 0, 0) == 0.0
    # All 11 words are linked with a full stop, and only those two are right.
    assert of_head(errors, 1, 3) == pytest.approx(1 - 2 * 2 / (11 + 11))
