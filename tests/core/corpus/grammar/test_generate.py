"""What must hold of every generated sentence, whatever the seed."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpus.grammar.dependencies import DependencyKind, Side
from core.corpus.grammar.entries import Gender
from core.corpus.grammar.generate import FAMILIES, Sentence, detokenise, generate
from core.corpus.grammar.lexicon import (
    ADJECTIVES,
    ADVERBS,
    CAUSATIVES,
    NAMES,
    NOUNS,
    NUMERALS,
    PREPOSITIONS,
    VERBS,
)
from core.errors import UserError

SEEDS = st.integers(min_value=0, max_value=10**9)
SPLITS = st.sampled_from(["train", "test"])
K = DependencyKind


def noun_forms() -> Iterator[tuple[str, set[str]]]:
    """Each English form with the German forms that may translate it."""
    for noun in NOUNS:
        yield noun.english, {noun.german, noun.genitive}
        if noun.countable:
            yield noun.english_plural, {noun.plural, noun.plural + "n"}


NOUN_FORMS = dict(noun_forms())
GENDERS = {noun.english: noun.gender for noun in NOUNS}
PRONOUNS = {
    Gender.MASCULINE: {"er", "ihn"},
    Gender.FEMININE: {"sie"},
    Gender.NEUTER: {"es"},
}


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, split=SPLITS, wide=st.booleans())
def test_every_sentence_is_consistent(seed: int, split: str, wide: bool) -> None:
    for sentence in generate(20, seed=seed, split=split, wide=wide):
        check_words(sentence)
        check_indices(sentence)
        check_nouns(sentence)
        check_dependencies(sentence)


def check_words(sentence: Sentence) -> None:
    assert detokenise(sentence.source_words) == sentence.source
    assert detokenise(sentence.target_words) == sentence.target
    assert len(sentence.source_tags) == len(sentence.source_words)
    assert sentence.source[0].isupper()
    assert sentence.target[0].isupper()
    assert sentence.source[-1] in ".?"
    leaves = [part for part in re.findall(r"[^\s()]+|\(\S+", sentence.tree) if part[0] != "("]
    assert tuple(leaves) == sentence.source_words
    assert sentence.tree.count("(") == sentence.tree.count(")")
    assert not re.search(r",[,.?]|\s,|  ", sentence.target)


def check_indices(sentence: Sentence) -> None:
    for source, target in sentence.alignment:
        assert 0 <= source < len(sentence.source_words)
        assert 0 <= target < len(sentence.target_words)
    aligned = {target for _, target in sentence.alignment}
    unaligned = {word for i, word in enumerate(sentence.target_words) if i not in aligned}
    assert unaligned <= {","}


def check_nouns(sentence: Sentence) -> None:
    links: dict[int, list[str]] = {}
    for source, target in sentence.alignment:
        links.setdefault(source, []).append(sentence.target_words[target])
    for index, tag in enumerate(sentence.source_tags):
        if tag == "noun":
            word = sentence.source_words[index]
            forms = NOUN_FORMS.get(word) or NOUN_FORMS[word[0].lower() + word[1:]]
            assert len(links[index]) == 1
            assert links[index][0] in forms


def check_dependencies(sentence: Sentence) -> None:
    for dependency in sentence.dependencies:
        source_side = dependency.side is Side.SOURCE
        words = sentence.source_words if source_side else sentence.target_words
        assert 0 <= dependency.start < len(words)
        assert 0 <= dependency.end < len(words)
        assert dependency.start != dependency.end
        if source_side:
            tags = (sentence.source_tags[dependency.start], sentence.source_tags[dependency.end])
            check_tags(dependency.kind, *tags)
    for kind in (K.COREFERENCE, K.SUBJECT_VERB, K.RELATIVE, K.POSSESSIVE, K.ATTRIBUTE):
        sides = Counter(entry.side for entry in sentence.dependencies if entry.kind is kind)
        assert sides[Side.SOURCE] == sides[Side.TARGET]


NOMINAL = {"noun", "name", "pronoun"}
ENDS = {
    K.COREFERENCE: ({"pronoun"}, {"noun"}),
    K.DISTRACTOR: ({"pronoun"}, {"noun"}),
    K.POSSESSIVE: ({"pronoun"}, {"noun", "name"}),
    K.RELATIVE: ({"pronoun"}, {"noun"}),
    K.SUBJECT_VERB: ({"verb"}, NOMINAL),
    K.OBJECT: (NOMINAL, {"verb"}),
    K.INDIRECT_OBJECT: (NOMINAL, {"verb"}),
    K.ATTRIBUTE: ({"adjective"}, {"noun"}),
    K.PREDICATE: ({"adjective"}, NOMINAL),
    K.PERFECT: ({"verb"}, {"verb"}),
    K.FUTURE: ({"verb"}, {"verb"}),
    K.MODAL: ({"verb"}, {"verb"}),
    K.PASSIVE: ({"verb"}, {"verb"}),
    K.PARTICLE: ({"particle"}, {"verb"}),
    K.QUESTION: ({"pronoun", "adverb", "noun"}, {"verb"}),
    K.TWO_WAY: ({"preposition"}, {"verb"}),
    K.COMPARATIVE: ({"preposition"}, {"adjective", "adverb"}),
    K.CAUSATIVE: ({"verb"}, {"adjective"}),
    K.COORDINATION: ({"noun", "name", "verb"}, {"noun", "name", "verb"}),
    K.NEGATION: ({"verb"}, {"verb"}),
}


def check_tags(kind: DependencyKind, start: str, end: str) -> None:
    starts, ends = ENDS[kind]
    assert start in starts
    assert end in ends


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, split=SPLITS)
def test_it_has_the_gender_of_its_antecedent(seed: int, split: str) -> None:
    for sentence in generate(20, seed=seed, split=split, families=["coreference", "coordination"]):
        for dependency in sentence.dependencies:
            if dependency.kind is not K.COREFERENCE or dependency.side is not Side.SOURCE:
                continue
            if sentence.source_words[dependency.start].lower() != "it":
                continue
            gender = GENDERS[sentence.source_words[dependency.end]]
            (target,) = (t for s, t in sentence.alignment if s == dependency.start)
            assert sentence.target_words[target].lower() in PRONOUNS[gender]


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, split=SPLITS)
def test_same_seed_same_stream_and_shorter_is_a_prefix(seed: int, split: str) -> None:
    once = list(generate(40, seed=seed, split=split))
    assert list(generate(40, seed=seed, split=split)) == once
    assert list(generate(25, seed=seed, split=split)) == once[:25]
    assert list(generate(40, seed=seed + 1, split=split)) != once


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("split", ["train", "test"])
def test_every_family_can_be_asked_for(family: str, split: str) -> None:
    sentences = list(generate(30, seed=4, split=split, families=[family]))
    assert len(sentences) == 30
    assert {sentence.family for sentence in sentences} == {family}
    assert {sentence.split for sentence in sentences} == {split}
    assert len({sentence.source for sentence in sentences}) > 25


DEFINING = {
    "coreference": K.COREFERENCE,
    "negation": K.NEGATION,
    "perfect": K.PERFECT,
    "modal": K.MODAL,
    "fronted": K.FRONTED,
    "subordinate": K.SUBORDINATE,
    "possessive": K.POSSESSIVE,
    "relative": K.RELATIVE,
    "agreement": K.SUBJECT_VERB,
    "dative": K.INDIRECT_OBJECT,
    "passive": K.PASSIVE,
    "causative": K.CAUSATIVE,
}


@pytest.mark.parametrize(("family", "kind"), DEFINING.items())
def test_a_family_has_its_dependency_in_every_sentence(family: str, kind: DependencyKind) -> None:
    for sentence in generate(60, seed=6, families=[family]):
        assert any(dependency.kind is kind for dependency in sentence.dependencies)


def test_a_mixed_stream_has_every_family_by_weight() -> None:
    counts = Counter(sentence.family for sentence in generate(4000, seed=1))
    assert set(counts) == set(FAMILIES)
    assert counts["coreference"] == max(counts.values())


def test_no_english_sentence_has_two_translations() -> None:
    translations: dict[str, str] = {}
    for split in ("train", "test"):
        for sentence in generate(8000, seed=2, split=split, wide=True):
            assert translations.setdefault(sentence.source, sentence.target) == sentence.target


def test_every_word_of_the_lexicon_occurs() -> None:
    """Nouns, verbs with particle and preposition, adjectives before nouns and as predicates."""
    words: set[str] = set()
    attributes: set[str] = set()
    predicates: set[str] = set()
    german: set[str] = set()
    streams = (
        generate(14_000, seed=3, families=["simple"], wide=True),
        generate(5_000, seed=3, families=["comparative"], wide=True),
        generate(
            9_000, seed=3, families=[name for name in FAMILIES if name != "coreference"], wide=True
        ),
    )
    for sentence in chain.from_iterable(streams):
        lowered = [word.lower() for word in sentence.source_words]
        words.update(lowered)
        german.update(sentence.target_words)
        for dependency in sentence.dependencies:
            if dependency.side is Side.TARGET:
                continue
            if dependency.kind is K.ATTRIBUTE:
                attributes.add(lowered[dependency.start])
            elif dependency.kind is K.PREDICATE:
                predicates.add(lowered[dependency.start])
    assert {noun.english for noun in NOUNS} <= words
    assert {noun.english_plural for noun in NOUNS if noun.countable} <= words
    adjectives = {adjective.english.lower() for adjective in ADJECTIVES}
    assert adjectives <= attributes
    assert adjectives <= predicates
    assert {name.text.lower() for name in NAMES} <= words
    for verb in VERBS:
        assert {verb.english.past, verb.english.base} & words
        assert {verb.german.participle, verb.german.past_singular} & german
    others = [entry.english for entry in (*ADVERBS, *PREPOSITIONS, *NUMERALS)]
    others += [entry.comparative for entry in CAUSATIVES]
    assert {part.lower() for text in others for part in text.split()} <= words


def test_json_lines_keep_everything() -> None:
    (sentence,) = generate(1, seed=1)
    record = json.loads(json.dumps(sentence.to_dict(), ensure_ascii=False))
    assert record["source_words"] == list(sentence.source_words)
    assert record["dependencies"][0].keys() == {"kind", "side", "from", "to"}


def test_unknown_names_are_said() -> None:
    with pytest.raises(UserError, match=r"unknown family 'poem'.*coreference"):
        list(generate(1, seed=1, families=["poem"]))
    with pytest.raises(UserError, match="unknown split 'dev'; choose from train, test"):
        list(generate(1, seed=1, split="dev"))
