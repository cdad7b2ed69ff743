"""The distance probe against one sentence at a time, on a small model with random weights."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import pytest
import torch

from core.analysis.distance import Reach, distance_probe, stretchable_sentences
from core.analysis.gold import gold_scores
from core.analysis.gold_links import Direction, relation_name
from core.analysis.interval import wilson_interval
from core.analysis.words import Reading
from core.corpus.grammar.dependencies import DependencyKind, Side
from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence, word_spans
from core.corpus.grammar.stretch import BRACKETS, STRETCHABLE, find_gap, stretch
from core.heads import AttentionKind
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.text.words import words_of_pieces
from tests.core.analysis.gold_sentences import generated, random_model, splitting_tokenizer

K = DependencyKind
ENCODER, DECODER, CROSS = AttentionKind
KINDS = (K.COREFERENCE, K.PARTICLE)
DISTANCES = (0, 3, 9)
SENTENCES = 8


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return splitting_tokenizer(generated())


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Transformer:
    return random_model(tokenizer)


@pytest.fixture(scope="module")
def told() -> list[int]:
    return []


@pytest.fixture(scope="module")
def reaches(model: Transformer, tokenizer: Tokenizer, told: list[int]) -> list[Reach]:
    found = distance_probe(
        model,
        tokenizer,
        kinds=KINDS,
        distances=DISTANCES,
        sentences=SENTENCES,
        seed=3,
        progress=told.append,
    )
    first = next(found)
    assert told == [SENTENCES * (step + 1) for step in range(len(DISTANCES))]  # and no further
    return [first, *found]


def chosen(kind: DependencyKind) -> list[Sentence]:
    return list(islice(stretchable_sentences(kind, seed=3), SENTENCES))


def test_what_is_measured(reaches: list[Reach], told: list[int]) -> None:
    coreference, particle = reaches
    assert [one.relation for one in reaches] == ["coreference", "particle"]
    for reach in reaches:
        assert reach.pushed_in == DISTANCES
        assert reach.sentences == SENTENCES
        ends = [wilson_interval(share, SENTENCES) for share in reach.model]
        assert np.column_stack(reach.interval).tolist() == [list(pair) for pair in ends]
        assert np.diff(reach.between).tolist() == pytest.approx([3, 6])
    assert coreference.both is not None
    assert particle.both is None
    assert set(coreference.heads) == {ENCODER, DECODER, CROSS}
    assert ENCODER not in particle.heads
    assert told == [SENTENCES * (step + 1) for step in range(len(KINDS) * len(DISTANCES))]


def test_heads_are_right_as_the_gold_scores_say(
    model: Transformer, tokenizer: Tokenizer, reaches: list[Reach]
) -> None:
    """Coreference sentences have no other pronoun, so that nothing needs to be left out."""
    (reach,) = (one for one in reaches if one.relation == "coreference")
    for step, words in enumerate(DISTANCES):
        stretched = [stretch(one, words, K.COREFERENCE) for one in chosen(K.COREFERENCE)]
        scores = gold_scores(
            model, tokenizer, stretched, relations={"coreference": frozenset({K.COREFERENCE})}
        )
        for score in scores:
            _, _, direction, reading = score.question
            if direction is Direction.FORWARD and reading is not Reading.FED:
                kind = score.question.kind
                assert reach.heads[kind] == score.heads
                assert reach.accuracy[kind][step].tolist() == score.accuracy.tolist()
                assert reach.baseline[kind][step] == score.baseline


def is_right(model: Transformer, tokenizer: Tokenizer, sentence: Sentence, word: int) -> bool:
    config = model.config
    tokens = tokenizer.tokens(sentence.target)
    words = words_of_pieces(tokens, word_spans(sentence.target_words))
    target = [token.id for token in tokens]
    source = torch.tensor([[*tokenizer.encode(sentence.source), config.eos_id]])
    with torch.no_grad():
        logits = model(source, torch.tensor([[config.bos_id, *target]]))[0]
    best = logits.argmax(-1).tolist()
    return all(best[at] == target[at] for at in range(len(target)) if words[at] == word)


def test_the_model_is_right_where_every_piece_is(tokenizer: Tokenizer) -> None:
    """A model whose output is biased towards the pieces of pronouns is right at times."""
    pronouns = {
        piece for word in ("er", "sie", "es") for piece in tokenizer.encode(f"nicht {word}")
    }
    model = random_model(tokenizer)
    with torch.no_grad():
        weight = model.output_embedding.weight
        for piece in pronouns:
            weight[piece] *= 8.0
    (reach,) = distance_probe(
        model, tokenizer, kinds=[K.COREFERENCE], distances=DISTANCES, sentences=40, seed=3
    )
    sentences = list(islice(stretchable_sentences(K.COREFERENCE, seed=3), 40))
    seen = set()
    for step, words in enumerate(DISTANCES):
        right = []
        for sentence in sentences:
            longer = stretch(sentence, words, K.COREFERENCE)
            (link,) = (
                one
                for one in longer.dependencies
                if one.kind is K.COREFERENCE and one.side is Side.TARGET
            )
            right.append(is_right(model, tokenizer, longer, link.start))
        assert reach.model[step] == np.mean(right)
        assert reach.both is not None
        both = [one and two for one, two in zip(right[0::2], right[1::2], strict=True)]
        assert reach.both[step] == np.mean(both)
        seen |= set(right)
    assert seen == {True, False}


@pytest.mark.parametrize("kind", STRETCHABLE)
def test_sentences_that_can_be_stretched(kind: DependencyKind) -> None:
    sentences = list(islice(stretchable_sentences(kind, seed=1), 6))
    assert all(find_gap(sentence, kind) for sentence in sentences)
    assert {sentence.split for sentence in sentences} == {"test"}
    if kind is K.COREFERENCE:
        names = [sentence.pair for sentence in sentences]
        assert names[0::2] == names[1::2]
        assert None not in names


def test_how_far_training_went(reaches: list[Reach]) -> None:
    longest = dict.fromkeys(KINDS, 0)
    for sentence in generate(2_000, seed=3):
        for one in sentence.dependencies:
            if one.kind in longest and one.side is Side.TARGET:
                longest[one.kind] = max(longest[one.kind], abs(one.start - one.end) - 1)
    for kind, reach in zip(KINDS, reaches, strict=True):
        assert reach.longest_trained == longest[kind] > 5


def test_brackets_have_no_english_side() -> None:
    assert set(BRACKETS).isdisjoint({K.COREFERENCE, K.POSSESSIVE, K.SUBJECT_VERB})
    assert relation_name(K.SUBJECT_VERB) == "subject"


def test_as_json(reaches: list[Reach]) -> None:
    for reach in reaches:
        record = json.loads(json.dumps(reach.to_dict()))
        assert record["model"] == reach.model.tolist()
        assert ("both" in record) == (reach.relation == "coreference")
        assert record["baseline"].keys() == {kind.value for kind in reach.heads}
        for entry in record["heads"]:
            kind = AttentionKind(entry["kind"])
            (column,) = (
                at
                for at, head in enumerate(reach.heads[kind])
                if (head.layer, head.head) == (entry["layer"], entry["head"])
            )
            assert entry["accuracy"] == reach.accuracy[kind][:, column].tolist()
