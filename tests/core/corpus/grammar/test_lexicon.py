from collections import Counter, defaultdict
from itertools import permutations

import pytest

from core.corpus.grammar.entries import Adjective, Frame, Gender, Noun, SemanticClass, Verb
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

THINGS = frozenset(SemanticClass) - {SemanticClass.PERSON}


def english_nouns(noun: Noun) -> set[str]:
    return {noun.english, noun.english_plural} - {""}


def english_verbs(verb: Verb) -> set[str]:
    english = verb.english
    return {english.base, english.third, english.past, english.participle}


def english_adjectives(adjective: Adjective) -> set[str]:
    return {adjective.english, adjective.comparative, adjective.superlative} - {""}


def repeated(words: list[str]) -> list[str]:
    return [word for word, count in Counter(words).items() if count > 1]


def test_size() -> None:
    assert len(NOUNS) >= 310
    assert len(VERBS) >= 135
    assert sum(adjective.graded for adjective in ADJECTIVES) >= 135
    assert len(ADVERBS) >= 50
    assert len(PREPOSITIONS) >= 25
    assert len(NAMES) >= 40
    assert len(CAUSATIVES) >= 9
    assert len(NUMERALS) >= 11
    assert sum(bool(verb.german.particle) for verb in VERBS) >= 20
    assert {verb.frame for verb in VERBS} == set(Frame)


@pytest.mark.parametrize(
    "words",
    [
        [noun.english for noun in NOUNS],
        [noun.german for noun in NOUNS],
        [adjective.english for adjective in ADJECTIVES],
        [adjective.german for adjective in ADJECTIVES],
        [adverb.english for adverb in ADVERBS],
        [adverb.german for adverb in ADVERBS],
        [preposition.english for preposition in PREPOSITIONS],
        [causative.comparative for causative in CAUSATIVES],
        [causative.german.infinitive for causative in CAUSATIVES],
        [name.text for name in NAMES],
        [numeral.english for numeral in NUMERALS],
        [numeral.german for numeral in NUMERALS],
    ],
)
def test_no_word_is_listed_twice(words: list[str]) -> None:
    assert repeated(words) == []


def test_an_english_verb_has_one_german_verb() -> None:
    phrases = [
        (verb.english.base, verb.english.particle, verb.english.preposition) for verb in VERBS
    ]
    assert len(phrases) == len(set(phrases))


def test_no_english_form_belongs_to_two_classes_of_words() -> None:
    owners = defaultdict(set)
    for noun in NOUNS:
        for word in english_nouns(noun):
            owners[word].add("noun")
    for verb in VERBS:
        for word in english_verbs(verb):
            owners[word].add("verb")
    for adjective in ADJECTIVES:
        for word in english_adjectives(adjective):
            owners[word].add("adjective")
    for adverb in ADVERBS:
        owners[adverb.english].add("adverb")
    for preposition in PREPOSITIONS:
        owners[preposition.english].add("preposition")
    assert {word: kinds for word, kinds in owners.items() if len(kinds) > 1} == {}


def test_numbers_are_told_apart_in_english() -> None:
    assert [noun.english for noun in NOUNS if noun.english == noun.english_plural] == []


def test_tenses_are_told_apart_in_english() -> None:
    assert [verb.english.base for verb in VERBS if verb.english.base == verb.english.past] == []


def test_every_thing_class_has_all_three_genders() -> None:
    genders = defaultdict(Counter)
    for noun in NOUNS:
        genders[noun.semantic][noun.gender] += 1
    for semantic in THINGS:
        assert min(genders[semantic][gender] for gender in Gender) >= 2, semantic
    persons = genders[SemanticClass.PERSON]
    assert persons[Gender.MASCULINE] >= 20
    assert persons[Gender.FEMININE] >= 20


def test_persons_have_their_pronoun_and_natural_gender() -> None:
    for noun in NOUNS:
        if noun.semantic is SemanticClass.PERSON:
            assert (noun.gender, noun.pronoun) in {
                (Gender.MASCULINE, "he"),
                (Gender.FEMININE, "she"),
            }, noun.english
        else:
            assert noun.pronoun == "it", noun.english


def test_weak_nouns_are_masculine_and_have_one_other_form() -> None:
    for noun in NOUNS:
        if noun.weak:
            assert noun.gender is Gender.MASCULINE
            assert noun.genitive.endswith("n")
            assert noun.plural == noun.genitive


def test_every_class_has_adjectives_that_the_other_class_lacks() -> None:
    fitting = {
        semantic: {a.english for a in ADJECTIVES if semantic in a.classes}
        for semantic in SemanticClass
    }
    for semantic in SemanticClass:
        assert len(fitting[semantic]) >= 6, semantic
    for one, other in permutations(THINGS, 2):
        assert fitting[one] - fitting[other], (one, other)


def test_adjectives_have_all_forms_of_comparison_or_none() -> None:
    for adjective in ADJECTIVES:
        forms = (
            adjective.comparative,
            adjective.superlative,
            adjective.german_comparative,
            adjective.german_superlative,
        )
        assert all(forms) is adjective.graded
        assert any(forms) is adjective.graded


def test_every_class_can_be_a_subject_and_an_object() -> None:
    subjects = frozenset().union(*(verb.subjects for verb in VERBS))
    objects = frozenset().union(*(verb.objects for verb in VERBS))
    assert objects == frozenset(SemanticClass)
    assert subjects >= frozenset(SemanticClass) - {SemanticClass.WATER, SemanticClass.PLACE}


def test_every_entry_goes_with_something() -> None:
    without_object = {Frame.INTRANSITIVE, Frame.LOCATIVE, Frame.DIRECTIONAL}
    for verb in VERBS:
        assert verb.subjects, verb.english.base
        assert bool(verb.objects) is (verb.frame not in without_object), verb.english.base
        assert bool(verb.german.preposition) is (verb.frame is Frame.PREPOSITIONAL)
        assert bool(verb.german.case) is (verb.frame is Frame.PREPOSITIONAL)
        assert verb.german.auxiliary in ("haben", "sein")
        assert not verb.passive or verb.frame is Frame.TRANSITIVE
    for entry in (*ADJECTIVES, *PREPOSITIONS, *CAUSATIVES):
        assert entry.objects if not isinstance(entry, Adjective) else entry.classes


def test_separable_verbs_begin_with_their_particle() -> None:
    for entry in (*VERBS, *CAUSATIVES):
        german = entry.german
        assert german.infinitive.startswith(german.particle)
        assert german.participle.startswith(german.particle)


def test_causatives_say_in_one_verb_what_an_adjective_says() -> None:
    comparatives = {adjective.comparative for adjective in ADJECTIVES if adjective.graded}
    assert {causative.comparative for causative in CAUSATIVES} <= comparatives


def test_the_words_of_the_classic_examples() -> None:
    nouns = {noun.english: (noun.german, noun.gender) for noun in NOUNS}
    assert nouns["animal"] == ("Tier", Gender.NEUTER)
    assert nouns["street"] == ("Straße", Gender.FEMININE)
    assert nouns["law"] == ("Gesetz", Gender.NEUTER)
    assert nouns["application"] == ("Anwendung", Gender.FEMININE)
    adjectives = {adjective.english: adjective for adjective in ADJECTIVES}
    assert adjectives["tired"].classes == {SemanticClass.PERSON, SemanticClass.ANIMAL}
    assert SemanticClass.WAY in adjectives["wide"].classes
    verbs = {verb.english.base: verb.german.infinitive for verb in VERBS}
    assert verbs["cross"] == "überqueren"
