"""Gold scores against planted heads and against maps read cell by cell in float64."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.gold import GoldScore, GoldTally, gold_scores, most_frequent_offset
from core.analysis.gold_links import (
    ALIGNMENT,
    ATTRACTED,
    RELATIONS,
    Direction,
    Link,
    Question,
    gold_links,
    relation_name,
)
from core.analysis.passes import recorded_passes
from core.analysis.pruning import prune
from core.analysis.verdict import FEWEST_CASES, MARGIN
from core.analysis.words import Reading
from core.corpus.grammar.dependencies import DependencyKind, Side
from core.corpus.grammar.sentence import Sentence, word_spans
from core.evaluation.pronouns import as_pieces, observe
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.text.tokens import WORD_START
from core.trace.record import trace_text
from core.trace.trace import Trace
from tests.core.analysis.gold_sentences import copied, generated, random_model, splitting_tokenizer
from tests.core.analysis.planted import planted

K = DependencyKind
ENCODER, DECODER, CROSS = AttentionKind
FORWARD, BACKWARD = Direction
FED, PREDICTED = Reading


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return generated()


@pytest.fixture(scope="module")
def tokenizer(sentences: list[Sentence]) -> Tokenizer:
    return splitting_tokenizer(sentences)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Transformer:
    return random_model(tokenizer)


@pytest.fixture(scope="module")
def scores(
    model: Transformer, tokenizer: Tokenizer, sentences: list[Sentence]
) -> dict[Question, GoldScore]:
    return {one.question: one for one in gold_scores(model, tokenizer, sentences)}


def question(
    kind: AttentionKind,
    relation: str,
    direction: Direction = FORWARD,
    reading: Reading | None = None,
) -> Question:
    return Question(kind, relation, direction, reading)


# --- planted heads --------------------------------------------------------------------------

PLANTED = [
    copied("the dog saw the cat because it was old .", (K.COREFERENCE, 6, 1), (K.ATTRIBUTE, 0, 1)),
    copied("the dog crossed the street , it was tired .", (K.COREFERENCE, 6, 1)),
    copied("the old dog heard it .", (K.COREFERENCE, 4, 2), (K.ATTRIBUTE, 1, 2)),
]


@pytest.fixture(scope="module")
def known() -> dict[Question, GoldScore]:
    checkpoint = planted()
    found = gold_scores(checkpoint.model, checkpoint.tokenizer, PLANTED)
    return {one.question: one for one in found}


DECIDED = (4, 5)
"""Heads of the encoder's first layer that look at one word from every "it": Finds and Rarest. The
others give several words the same weight, and rounding decides between them."""


def accuracy(score: GoldScore, layer: int, head: int) -> float:
    place = score.heads.index(Head(score.question.kind, layer, head))
    return float(score.accuracy[place])


def test_the_head_that_finds_the_antecedent(known: dict[Question, GoldScore]) -> None:
    score = known[question(ENCODER, "coreference")]
    assert score.links == 3
    assert accuracy(score, 0, 4) == 1.0  # Finds it → dog
    assert accuracy(score, 1, 0) == 1 / 3  # Offset(-2), which one of the sentences has
    assert accuracy(score, 0, 0) == 0.0  # Offset(-1)
    assert (score.offset, score.baseline) == (-5, 2 / 3)
    assert score.threshold == pytest.approx(2 / 3 + MARGIN)
    place = score.heads.index(Head(ENCODER, 0, 4))
    assert score.weights[:, place] == pytest.approx(1.0, abs=1e-3)


def test_a_neighbour_is_found_by_the_head_that_looks_there(
    known: dict[Question, GoldScore],
) -> None:
    score = known[question(ENCODER, "attribute")]
    assert (score.offset, score.baseline) == (1, 1.0)
    assert accuracy(score, 0, 1) == 1.0  # Offset(1)
    back = known[question(ENCODER, "attribute", BACKWARD)]
    assert (back.offset, back.baseline) == (-1, 1.0)
    assert accuracy(back, 0, 0) == 1.0  # Offset(-1)


def test_a_head_that_rests_on_a_special_or_a_mark_is_never_right(
    known: dict[Question, GoldScore],
) -> None:
    for direction in Direction:
        for sink in ((0, 2), (1, 2)):  # On("</s>"), On(".")
            for relation in ("coreference", "attribute"):
                score = known[question(ENCODER, relation, direction)]
                place = score.heads.index(Head(ENCODER, *sink))
                assert score.weights[:, place] == pytest.approx(0.0, abs=1e-4)
                assert not score.hits[:, place].any()


def test_readings_of_a_decoder_row(known: dict[Question, GoldScore]) -> None:
    """Row t is fed word t − 1 and predicts word t; the head looks at what row t − 1 is fed."""
    links = [copied("dog saw it .", (K.COREFERENCE, 2, 1))]
    checkpoint = planted()
    found = {
        one.question: one for one in gold_scores(checkpoint.model, checkpoint.tokenizer, links)
    }
    fed = found[question(DECODER, "coreference", reading=FED)]
    predicted = found[question(DECODER, "coreference", reading=PREDICTED)]
    assert accuracy(fed, 0, 0) == 1.0  # Offset(-1): fed "it", looks at "saw"
    assert accuracy(predicted, 0, 3) == 1.0  # Offset(0): about to say "it", looks at "saw"
    assert accuracy(predicted, 0, 0) == 0.0  # … and this one at "dog"
    assert fed.queries.tolist() == [3]
    assert predicted.queries.tolist() == [2]
    assert fed.keys.tolist() == predicted.keys.tolist() == [2]


def test_across_sentences_the_translation_of_the_other_word_is_looked_for(
    known: dict[Question, GoldScore],
) -> None:
    fed = known[question(CROSS, "coreference", reading=FED)]
    assert accuracy(fed, 0, 3) == 1.0  # Finds it → dog, in the row that is fed "it"
    assert fed.queries.tolist() == [7, 7, 5]
    assert fed.keys.tolist() == [1, 1, 2]


def test_few_links_make_no_role(known: dict[Question, GoldScore]) -> None:
    score = known[question(ENCODER, "coreference")]
    assert score.accuracy.max() >= score.threshold
    assert not score.passed.any()
    checkpoint = planted()
    often = gold_scores(checkpoint.model, checkpoint.tokenizer, PLANTED * FEWEST_CASES)
    many = next(one for one in often if one.question == score.question)
    assert [head for head, passed in zip(many.heads, many.passed, strict=True) if passed] == [
        Head(ENCODER, 0, 4)
    ]
    for head in DECIDED:
        assert accuracy(many, 0, head) == accuracy(score, 0, head)


# --- read cell by cell ----------------------------------------------------------------------


def spelled(sentence: Sentence, tokenizer: Tokenizer, side: Side) -> list[int]:
    """The word of each token by its characters; the space before a word belongs to it."""
    words = sentence.source_words if side is Side.SOURCE else sentence.target_words
    text = sentence.source if side is Side.SOURCE else sentence.target
    spans = word_spans(words)
    return [
        max(
            word
            for word, (start, _) in enumerate(spans)
            if start < token.end + (token.piece == WORD_START)
        )
        for token in tokenizer.tokens(text)
    ]


def cell_by_cell(
    trace: Trace, head: Head, link: Link, sentence: Sentence, words: dict[Side, list[int]]
) -> tuple[bool, float]:
    kind = head.kind
    weights = trace.weights(*head).astype(np.float64)
    query_side = Side.SOURCE if kind is ENCODER else Side.TARGET
    key_side = Side.TARGET if kind is DECODER else Side.SOURCE
    shift = 1 if link.question.reading is FED else 0
    rows = [place + shift for place, word in enumerate(words[query_side]) if word == link.query]
    sums: dict[int, float] = defaultdict(float)
    for place, word in enumerate(words[key_side]):
        column = place + (1 if kind is DECODER else 0)
        for row in rows:
            sums[word] += weights[row, column] / len(rows)
    on_specials = 1 - sum(sums.values())
    heaviest = max(sums, key=lambda word: sums[word])
    found = heaviest in link.keys and sums[heaviest] > on_specials
    rests = kind is not DECODER and weights[:, 0].mean() >= max(
        0.3, 1 / weights.shape[1] + 0.3 - sum(1 / t for t in range(1, 65)) / 64
    )
    on_sink = rests and heaviest == words[key_side][0]
    return found and not on_sink, sum(sums[word] for word in link.keys)


def test_every_number_is_what_the_maps_say(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: list[Sentence],
    scores: dict[Question, GoldScore],
) -> None:
    counted: Counter[Question] = Counter()
    for index in range(0, len(sentences), 4):
        sentence = sentences[index]
        trace = trace_text(model, tokenizer, sentence.source, target=sentence.target)
        words = {side: spelled(sentence, tokenizer, side) for side in Side}
        for link in gold_links(sentence):
            score = scores[link.question]
            rows = np.flatnonzero(score.sentences == index)
            own = [at for at in rows if same_place(score, at, link, words)]
            assert len(own) == 1
            counted[link.question] += 1
            for column, head in enumerate(score.heads):
                hit, weight = cell_by_cell(trace, head, link, sentence, words)
                assert score.weights[own[0], column] == pytest.approx(weight, abs=2e-5)
                assert score.hits[own[0], column] == hit
    assert len({(one.kind, one.direction, one.reading) for one in counted}) == 10


def same_place(score: GoldScore, at: np.intp, link: Link, words: dict[Side, list[int]]) -> bool:
    side = Side.SOURCE if link.question.kind is ENCODER else Side.TARGET
    shift = 1 if link.question.reading is FED else 0
    return bool(score.queries[at] == words[side].index(link.query) + shift)


def test_the_score_of_it_is_that_of_the_minimal_pairs(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: list[Sentence],
    scores: dict[Question, GoldScore],
) -> None:
    """Where "it" and the pronoun are one piece each, two ways of counting agree, except that a link
    is a miss if a token has more weight that the minimal pairs do not count."""
    pairs = sentences[:12]
    seen = observe(model, [as_pieces(sentence, tokenizer) for sentence in pairs])
    for kind, hits in ((ENCODER, seen.encoder_hit), (CROSS, seen.cross_hit)):
        score = scores[
            question(kind, "coreference", reading=None if kind is ENCODER else PREDICTED)
        ]
        for index, expected in enumerate(hits):
            if len(as_pieces(pairs[index], tokenizer).pronoun_pieces) > 1:
                continue
            (at,) = np.flatnonzero(score.sentences == index)
            assert not (score.hits[at] & ~expected.reshape(-1)).any()
            sure = score.weights[at] > 0.5
            assert (score.hits[at] == expected.reshape(-1))[sure].all()


def test_batches_and_order_do_not_matter(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: list[Sentence],
    scores: dict[Question, GoldScore],
) -> None:
    tally = GoldTally(tokenizer, sentences)
    for passed in recorded_passes(model, tally.pairs, batch_tokens=60):
        tally.add(passed)
    for score in tally.scores():
        other = scores[score.question]
        assert score.sentences.tolist() == other.sentences.tolist()
        assert score.hits.tolist() == other.hits.tolist()
        np.testing.assert_allclose(score.weights, other.weights, atol=1e-5)
        assert (score.offset, score.baseline) == (other.offset, other.baseline)


def test_progress_is_told(
    model: Transformer, tokenizer: Tokenizer, sentences: list[Sentence]
) -> None:
    told: list[int] = []
    gold_scores(model, tokenizer, sentences, progress=told.append)
    assert told[-1] == len(sentences)
    assert told == sorted(told)


# --- links ----------------------------------------------------------------------------------


def test_links_of_a_sentence() -> None:
    sentence = copied("the dog saw it .", (K.COREFERENCE, 3, 1))
    found = set(gold_links(sentence))
    keys = frozenset({1})
    assert found == {
        Link(question(ENCODER, "coreference"), 3, keys),
        Link(question(ENCODER, "coreference", BACKWARD), 1, frozenset({3})),
        *(Link(question(DECODER, "coreference", reading=reading), 3, keys) for reading in Reading),
        *(Link(question(CROSS, "coreference", reading=reading), 3, keys) for reading in Reading),
        *(
            Link(question(CROSS, "coreference", BACKWARD, reading), 1, frozenset({3}))
            for reading in Reading
        ),
        *(
            Link(question(CROSS, ALIGNMENT, reading=reading), word, frozenset({word}))
            for reading in Reading
            for word in range(4)
        ),
    }


def test_a_head_that_aligns_finds_the_neighbour_in_the_next_row() -> None:
    """The row that is fed "old" predicts "dog", and so an aligner looks at "dog" there."""
    sentence = copied("the old dog heard it .", (K.ATTRIBUTE, 1, 2), (K.COREFERENCE, 4, 2))
    aligned = {
        (link.question.relation, link.question.reading): link.aligned
        for link in gold_links(sentence)
        if link.question.kind is CROSS and link.question.direction is FORWARD and link.keys == {2}
    }
    assert aligned == {
        ("attribute", FED): {PREDICTED},
        ("attribute", PREDICTED): set(),
        ("coreference", FED): set(),
        ("coreference", PREDICTED): set(),
        (ALIGNMENT, FED): set(),
        (ALIGNMENT, PREDICTED): set(),
    }


def test_decoder_links_point_back_and_cross_links_elsewhere(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        for link in gold_links(sentence):
            kind = link.question.kind
            if kind is not CROSS:
                assert link.query not in link.keys
            if kind is DECODER:
                assert max(link.keys) < link.query
            if kind is CROSS and link.question.relation != ALIGNMENT:
                own = {source for source, target in sentence.alignment if target == link.query}
                assert not own & link.keys


def test_every_dependency_of_the_grammar_but_the_wrong_one_is_asked_for() -> None:
    asked = frozenset().union(*RELATIONS.values())
    assert asked == set(DependencyKind) - {DependencyKind.DISTRACTOR}
    assert {relation_name(kind) for kind in DependencyKind} - {"distractor"} <= set(RELATIONS)
    assert {"coreference", "relative", "particle", "auxiliary", "subject", "possessive"} <= set(
        RELATIONS
    )


def test_attracted_subjects_are_those_past_another_noun() -> None:
    links = ((K.SUBJECT_VERB, 4, 0), (K.SUBJECT_VERB, 6, 5))
    sentence = copied("dog in the house saw cat heard .", *links)
    found = [link for link in gold_links(sentence) if link.question.relation == ATTRACTED]
    forward = {link for link in found if link.question.direction is FORWARD}
    assert {link.query for link in forward} == {4}
    assert {link.question.kind for link in forward} == {ENCODER, DECODER, CROSS}


@given(offsets=st.lists(st.sets(st.integers(-6, 6), min_size=1, max_size=3), min_size=1))
def test_the_most_frequent_offset_is_the_best_fixed_one(offsets: list[set[int]]) -> None:
    offset, count = most_frequent_offset([sorted(of_link) for of_link in offsets])

    def right(fixed: int) -> int:
        return sum(fixed in of_link for of_link in offsets)

    assert count == right(offset) == max(map(right, range(-6, 7)))


def test_of_equal_offsets_the_shorter_counts() -> None:
    assert most_frequent_offset([[3], [-1], [1]]) == (1, 1)
    assert most_frequent_offset([[-2], [-2], [1]]) == (-2, 2)


def test_accuracy_is_a_share(scores: dict[Question, GoldScore]) -> None:
    for score in scores.values():
        assert score.accuracy.shape == (len(score.heads),)
        np.testing.assert_allclose(score.accuracy * score.links, score.hits.sum(axis=0))


def test_of_a_pruned_model_the_heads_that_are_left(known: dict[Question, GoldScore]) -> None:
    checkpoint = planted()
    closed = [Head(ENCODER, 0, 0), *(Head(ENCODER, 1, head) for head in range(6))]
    smaller = prune(checkpoint.model, closed)
    found = {one.question: one for one in gold_scores(smaller, checkpoint.tokenizer, PLANTED)}
    score = found[question(ENCODER, "coreference")]
    assert score.heads == tuple(Head(ENCODER, 0, head) for head in range(1, 6))
    assert accuracy(score, 0, 4) == 1.0
    before = known[score.question]
    for head in DECIDED:
        assert accuracy(score, 0, head) == accuracy(before, 0, head)
