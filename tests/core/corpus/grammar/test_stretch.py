"""Stretched sentences: what holds of every sentence, and the words that were asked for."""

from __future__ import annotations

import re
from itertools import count, islice
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.draft import Draft, held_out
from core.corpus.grammar.families.coreference import readings
from core.corpus.grammar.families.frames import REFUSALS
from core.corpus.grammar.families.stories import STORIES
from core.corpus.grammar.generate import generate, minimal_pairs
from core.corpus.grammar.lexicon import NOUNS
from core.corpus.grammar.registry import finished
from core.corpus.grammar.sentence import Sentence
from core.corpus.grammar.stretch import (
    ADJECTIVES,
    LONGEST,
    STRETCHABLE,
    TO_A_NOUN,
    find_gap,
    stretch,
    stretch_text,
)
from core.corpus.grammar.vocabulary import noun
from core.errors import UserError
from tests.core.corpus.grammar.test_generate import (
    check_dependencies,
    check_indices,
    check_nouns,
    check_words,
)

K = DependencyKind
SENTENCES = [
    *generate(400, seed=1, split="test"),
    *generate(100, seed=2, families=["possessive", "separable"]),
]
STRETCHED = [
    (sentence, kind)
    for sentence in SENTENCES
    for kind in STRETCHABLE
    if find_gap(sentence, kind) is not None
]
WORDS = st.integers(0, LONGEST)


def lengths(sentence: Sentence, kind: DependencyKind, side: Side) -> list[int]:
    return [
        abs(one.start - one.end)
        for one in sentence.dependencies
        if one.kind is kind and one.side is side
    ]


def test_every_kind_is_met() -> None:
    assert {kind for _, kind in STRETCHED} == set(STRETCHABLE)


@settings(max_examples=150, deadline=None)
@given(chosen=st.sampled_from(STRETCHED), words=WORDS)
def test_a_stretched_sentence_is_consistent(
    chosen: tuple[Sentence, DependencyKind], words: int
) -> None:
    sentence, kind = chosen
    longer = stretch(sentence, words, kind)
    for check in (check_words, check_indices, check_nouns, check_dependencies):
        check(longer)
    assert len(longer.source_words) == len(sentence.source_words) + words
    assert len(longer.target_words) == len(sentence.target_words) + words
    assert len(longer.alignment) == len(sentence.alignment) + words


@settings(max_examples=150, deadline=None)
@given(chosen=st.sampled_from(STRETCHED), words=WORDS)
def test_the_words_stand_between_the_two_that_belong_together(
    chosen: tuple[Sentence, DependencyKind], words: int
) -> None:
    sentence, kind = chosen
    longer = stretch(sentence, words, kind)
    sides = (Side.SOURCE, Side.TARGET) if kind in TO_A_NOUN else (Side.TARGET,)
    for side in sides:
        before, after = lengths(sentence, kind, side), lengths(longer, kind, side)
        grown = {new - old for old, new in zip(before, after, strict=True)}
        assert words in grown
        assert grown <= {0, words}


@settings(max_examples=60, deadline=None)
@given(chosen=st.sampled_from(STRETCHED), words=st.integers(1, LONGEST))
def test_taken_out_again_they_leave_the_sentence(
    chosen: tuple[Sentence, DependencyKind], words: int
) -> None:
    sentence, kind = chosen
    gap = find_gap(sentence, kind)
    assert gap is not None
    longer = stretch(sentence, words, kind)
    for before, after, place in (
        (sentence.source_words, longer.source_words, gap.source + 1),
        (sentence.target_words, longer.target_words, gap.target + 1),
        (sentence.source_tags, longer.source_tags, gap.source + 1),
    ):
        assert (*after[:place], *after[place + words :]) == before
    places = set(longer.alignment)
    inserted = {(gap.source + 1 + index, gap.target + 1 + index) for index in range(words)}
    assert inserted <= places
    old = {
        (source - words * (source > gap.source), target - words * (target > gap.target))
        for source, target in places - inserted
    }
    assert old == set(sentence.alignment)


def test_no_words_leave_it_as_it_is() -> None:
    for sentence, kind in STRETCHED:
        assert stretch(sentence, 0, kind) == sentence


@pytest.mark.parametrize("words", [4, 5, 8, 16, 32])
def test_a_longer_stretch_begins_with_the_same_places(words: int) -> None:
    for sentence, kind in STRETCHED[:40]:
        gap = find_gap(sentence, kind)
        assert gap is not None
        kept = slice(0, gap.source + 1 + words // 4 * 4 - 4)
        longer, longest = (stretch(sentence, count, kind) for count in (words, 2 * words))
        assert longest.source_words[kept] == longer.source_words[kept]


@pytest.mark.parametrize("words", [1, 2, 5, 32])
def test_both_sentences_of_a_pair_get_the_same_words(words: int) -> None:
    pairs = minimal_pairs(200, seed=4, split="test")
    fitting = (pair for pair in pairs if find_gap(pair[0], K.COREFERENCE) is not None)
    for pair in islice(fitting, 40):
        first, second = (stretch(one, words, K.COREFERENCE) for one in pair)
        differing = [
            tag
            for tag, one, other in zip(
                first.source_tags, first.source_words, second.source_words, strict=True
            )
            if one != other
        ]
        assert differing == ["adjective"]


PLURALS = {entry.english_plural for entry in NOUNS if entry.countable}
SINGULARS = {entry.english for entry in NOUNS}


def inserted(sentence: Sentence, words: int, kind: DependencyKind) -> list[tuple[str, str]]:
    """English words and their tags."""
    gap = find_gap(sentence, kind)
    assert gap is not None
    longer = stretch(sentence, words, kind)
    place = slice(gap.source + 1, gap.source + 1 + words)
    return list(zip(longer.source_words[place], longer.source_tags[place], strict=True))


def test_nothing_that_is_inserted_can_be_meant() -> None:
    """Nouns have the other number, and no adjective was kept from training with its noun."""
    for sentence, kind in STRETCHED:
        gap = find_gap(sentence, kind)
        assert gap is not None
        before = sentence.source_words[gap.source]
        words = inserted(sentence, 32, kind)
        found = {word for word, tag in words if tag == "noun"}
        assert found <= (SINGULARS if before in PLURALS else PLURALS)
        assert len(found) == 8
        assert not found & set(sentence.source_words)
        for (word, tag), (following, _) in zip(words, [*words[1:], ("", "")], strict=True):
            if tag == "adjective":
                singular = next(n for n in NOUNS if following in (n.english, n.english_plural))
                assert word in ADJECTIVES
                assert not held_out(singular.english, word)


def test_each_number_of_words_has_its_form() -> None:
    sentence = next(one for one, kind in STRETCHED if kind is K.COREFERENCE)
    tags = {
        words: [tag for _, tag in inserted(sentence, words, K.COREFERENCE)] for words in range(1, 6)
    }
    assert tags == {
        1: ["adverb"],
        2: ["preposition", "noun"],
        3: ["preposition", "article", "noun"],
        4: ["preposition", "article", "adjective", "noun"],
        5: ["preposition", "article", "adverb", "adjective", "noun"],
    }


def famous() -> Sentence:
    """The animal didn't cross the street because it was too tired."""
    story = next(one for one in STORIES if "cross" in one.verbs)
    for seed in count():
        draft = Draft(Random(seed), "test")
        draft.held = True
        made = readings(draft, story, REFUSALS[0], noun("animal"), noun("street"))
        for sentence in finished(made, draft, "coreference"):
            if sentence.source == "The animal didn't cross the street because it was too tired.":
                return sentence
    raise AssertionError


def test_the_famous_sentence() -> None:
    longer = stretch(famous(), 5, K.COREFERENCE)
    english = re.fullmatch(
        r"The animal didn't cross the street (\w+) the very (\w+) (\w+) because it was too tired.",
        longer.source,
    )
    german = re.fullmatch(
        r"Das Tier überquerte die Straße (\w+) den sehr (\w+)n (\w+) nicht, weil es zu müde war.",
        longer.target,
    )
    assert english
    assert german
    assert stretch_text(famous().source, 5) == longer.source


def test_the_tree_takes_them_in() -> None:
    sentence = next(
        one for one in SENTENCES if find_gap(one, K.SUBJECT_VERB) and "(NP the " in one.tree
    )
    longer = stretch(sentence, 4, K.SUBJECT_VERB)
    assert longer.tree.count("(PP") == sentence.tree.count("(PP") + 1
    leaves = [part.rstrip(")") for part in longer.tree.split() if not part.startswith("(")]
    assert tuple(leaf for leaf in leaves if leaf) == longer.source_words


def test_what_cannot_be_stretched_is_said() -> None:
    sentence, kind = STRETCHED[0]
    for words in (-1, LONGEST + 1):
        with pytest.raises(UserError, match="choose 0 to 64"):
            stretch(sentence, words, kind)
        with pytest.raises(UserError, match="choose 0 to 64"):
            stretch_text("The dog sleeps.", words)
    no_room = next(one for one in SENTENCES if find_gap(one, K.PARTICLE) is None)
    with pytest.raises(UserError, match="no place for more words"):
        stretch(no_room, 4, K.PARTICLE)


def test_later_dependencies_move_along() -> None:
    sentence, kind = next((one, kind) for one, kind in STRETCHED if kind is K.COREFERENCE)
    longer = stretch(sentence, 7, kind)
    before = [link for link in sentence.dependencies if link.side is Side.SOURCE]
    after = [link for link in longer.dependencies if link.side is Side.SOURCE]

    def named(words: tuple[str, ...], link: Dependency) -> tuple[str, str, str]:
        return link.kind, words[link.start], words[link.end]

    assert [named(sentence.source_words, link) for link in before] == [
        named(longer.source_words, link) for link in after[: len(before)]
    ]
    assert {link.kind for link in after[len(before) :]} == {K.ATTRIBUTE}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (
            "The animal didn't cross the street because it was too tired.",
            "The animal didn't cross the street ",
            " because it was too tired.",
        ),
        ("I saw the dog, and it slept.", "I saw the dog ", ", and it slept."),
        ("The dog sleeps", "The dog sleeps ", ""),
        ("Does the dog sleep?  ", "Does the dog sleep ", "?  "),
        (" and the dog sleeps.", " and the dog sleeps ", "."),
        ("The dogs near the house sleep, but it rains", "The dogs near the house sleep ", ", but"),
    ],
)
def test_any_text_can_be_stretched(text: str, before: str, after: str) -> None:
    for words in (1, 4, 7, 32):
        longer = stretch_text(text, words)
        assert longer.startswith(before)
        assert after in longer
        assert len(longer.split()) == len(text.split()) + words
    assert stretch_text(text, 0) == text


@given(text=st.text(max_size=60), words=WORDS)
def test_whatever_is_typed_grows_or_stays(text: str, words: int) -> None:
    try:
        longer = stretch_text(text, words)
    except UserError:
        assert not text.rstrip().rstrip(".?!").strip()
    else:
        assert len(longer.split()) == len(text.split()) + words


@pytest.mark.parametrize("text", ["", "  ", "?", " ... "])
def test_what_has_no_word_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="no word here"):
        stretch_text(text, 4)
