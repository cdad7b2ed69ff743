"""Other people's dictionaries accept every word form of the lexicon."""

import shutil
import subprocess

import pytest

from core.corpus.grammar.conjugation import GERMAN_AUXILIARIES, MODALS
from core.corpus.grammar.entries import Case, Degree, Gender, GermanVerb, Number, SemanticClass
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
from core.corpus.grammar.morphology import (
    Determiner,
    attributive,
    noun_form,
    predicative,
)


def german_verb_forms(verb: GermanVerb) -> set[str]:
    return {
        verb.infinitive,
        verb.participle,
        verb.present_singular,
        verb.present_plural,
        verb.past_singular,
        verb.past_plural,
        verb.particle + verb.present_singular,
        verb.particle + verb.past_singular,
    }


def german_words() -> set[str]:
    words: set[str] = set()
    for noun in NOUNS:
        words |= {noun_form(noun, case) for case in Case}
        if noun.countable:
            words |= {noun_form(noun, case, Number.PLURAL) for case in Case}
    for adjective in ADJECTIVES:
        for degree in Degree if adjective.graded else (Degree.POSITIVE,):
            words |= set(predicative(adjective, degree).split())
            for case in Case:
                for gender in Gender:
                    for number in Number:
                        words |= {
                            attributive(adjective, case, number, gender, kind, degree)
                            for kind in Determiner
                        }
    for entry in (*VERBS, *CAUSATIVES):
        words |= german_verb_forms(entry.german)
    forms = [*GERMAN_AUXILIARIES.values(), *(modal.german for modal in MODALS)]
    for finite in forms:
        words |= {finite.present_singular, finite.present_plural}
        words |= {finite.past_singular, finite.past_plural} - {""}
    for entry in (*ADVERBS, *PREPOSITIONS, *NUMERALS):
        words |= set(entry.german.split())
    words |= {name.text for name in NAMES} | {f"{name.text}s" for name in NAMES}
    return words


def english_words() -> set[str]:
    words: set[str] = set()
    for noun in NOUNS:
        words |= {noun.english, noun.english_plural} - {""}
        if noun.semantic is SemanticClass.PERSON:
            words.add(f"{noun.english}'s")
    for verb in VERBS:
        english = verb.english
        words |= {english.base, english.third, english.past, english.participle}
        words |= set(english.particle.split()) | set(english.preposition.split())
    for adjective in ADJECTIVES:
        for form in (adjective.english, adjective.comparative, adjective.superlative):
            words |= set(form.split())
    for entry in (*ADVERBS, *PREPOSITIONS, *NUMERALS):
        words |= set(entry.english.split())
    for modal in MODALS:
        for finite in (modal.english, modal.negated):
            words |= set(finite.present_singular.split()) | set(finite.past_plural.split())
    return words | {name.text for name in NAMES}


def rejected(dictionary: str, words: set[str]) -> set[str]:
    if shutil.which("hunspell") is None:
        pytest.skip("hunspell is not installed (Debian: hunspell hunspell-en-us hunspell-de-de)")
    done = subprocess.run(
        ["hunspell", "-d", dictionary, "-i", "utf-8", "-l"],
        input="\n".join(sorted(words)),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if "Can't open" in done.stderr:
        pytest.skip(f"the hunspell dictionary {dictionary} is not installed")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(("dictionary", "misspelt"), [("de_DE", "Strasze"), ("en_US", "streeet")])
def test_the_dictionary_rejects_what_is_no_word(dictionary: str, misspelt: str) -> None:
    assert rejected(dictionary, {misspelt}) == {misspelt}


def test_german_word_forms() -> None:
    assert rejected("de_DE", german_words()) == set()


def test_english_word_forms() -> None:
    assert rejected("en_US", english_words()) == set()


@pytest.fixture(scope="module")
def german_nouns():
    lookup = pytest.importorskip(
        "german_nouns.lookup", reason="the package german-nouns is not installed"
    )
    return lookup.Nouns()


def test_genders_plurals_and_genitives(german_nouns) -> None:
    wrong = []
    for noun in NOUNS:
        entries = german_nouns[noun.german]
        if not any(agrees(noun, entry) for entry in entries):
            wrong.append((noun.german, entries))
    assert wrong == []


def agrees(noun, entry) -> bool:
    forms = entry.get("flexion", {})

    def listed(name: str) -> set[str]:
        return {form for key, form in forms.items() if key.rstrip(" 1234*") == name}

    genders = {value for key, value in entry.items() if key.startswith("genus")}
    return (
        noun.gender.value in genders
        and noun.genitive in listed("genitiv singular")
        and noun_form(noun, Case.DATIVE) in listed("dativ singular")
        and noun_form(noun, Case.ACCUSATIVE) in listed("akkusativ singular")
        and (not noun.plural or noun.plural in listed("nominativ plural"))
        and (
            not noun.plural or noun_form(noun, Case.DATIVE, Number.PLURAL) in listed("dativ plural")
        )
    )
