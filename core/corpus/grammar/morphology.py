"""Forms of nouns, articles, adjectives and pronouns in German and English.

Pronouns are named in English ("he", "she", "it", "they"). German needs the antecedent's gender
and number instead: "it" is er, sie or es.
"""

from __future__ import annotations

from enum import StrEnum

from core.corpus.grammar.entries import Adjective, Case, Degree, Gender, Name, Noun, Number


class Determiner(StrEnum):
    """What precedes an adjective, as far as it decides the ending."""

    DEFINITE = "definite"  # der, dieser, jeder
    INDEFINITE = "indefinite"  # ein, kein, sein, ihr
    NONE = "none"


CASES = (Case.NOMINATIVE, Case.ACCUSATIVE, Case.DATIVE, Case.GENITIVE)
COLUMNS: tuple[Gender | Number, ...] = (
    Gender.MASCULINE,
    Gender.FEMININE,
    Gender.NEUTER,
    Number.PLURAL,
)

Paradigm = dict[tuple[Case, Gender | Number], str]


def _paradigm(*rows: str) -> Paradigm:
    """A table of one row per case and the columns masculine, feminine, neuter, plural."""
    return {
        (case, column): form.strip("-")
        for case, row in zip(CASES, rows, strict=True)
        for column, form in zip(COLUMNS, row.split(), strict=True)
    }


def _cell(case: Case, number: Number, gender: Gender) -> tuple[Case, Gender | Number]:
    return case, number if number is Number.PLURAL else gender


DEFINITE_ARTICLE = _paradigm(
    "der die das die", "den die das die", "dem der dem den", "des der des der"
)
STRONG_ENDINGS = _paradigm("er e es e", "en e es e", "em er em en", "es er es er")
INDEFINITE_ENDINGS = _paradigm("- e - e", "en e - e", "em er em en", "es er es er")
RELATIVE_PRONOUN = _paradigm(
    "der die das die", "den die das die", "dem der dem denen", "dessen deren dessen deren"
)
PERSONAL_PRONOUN = _paradigm(
    "er sie es sie", "ihn sie es sie", "ihm ihr ihm ihnen", "seiner ihrer seiner ihrer"
)

ADJECTIVE_ENDINGS = {
    Determiner.DEFINITE: _paradigm("e e e en", "en e e en", "en en en en", "en en en en"),
    Determiner.INDEFINITE: _paradigm("er e es en", "en e es en", "en en en en", "en en en en"),
    Determiner.NONE: _paradigm("er e es e", "en e es e", "em er em en", "en er en er"),
}

STRONG_STEMS = {"dieser": "dies", "jeder": "jed", "welcher": "welch"}
INDEFINITE_STEMS = ("ein", "kein", "sein", "ihr")

ENGLISH_PRONOUNS = {
    # subject, object, possessive determiner
    "he": ("he", "him", "his"),
    "she": ("she", "her", "her"),
    "it": ("it", "it", "its"),
    "they": ("they", "them", "their"),
}

SILENT_H = ("hour", "honest", "honor", "heir")
CONSONANT_SOUND = ("uni", "use", "euro", "one", "once", "ukulele", "unique")
UN_PREFIXED = ("unim", "unin")


def noun_form(noun: Noun, case: Case, number: Number = Number.SINGULAR) -> str:
    """The German form. Raises ValueError for the plural of a noun that has none."""
    if number is Number.PLURAL:
        if not noun.plural:
            raise ValueError(f"{noun.german} has no plural")
        return dative_plural(noun.plural) if case is Case.DATIVE else noun.plural
    if case is Case.NOMINATIVE:
        return noun.german
    if noun.weak or case is Case.GENITIVE:
        return noun.genitive
    return noun.german


def dative_plural(plural: str) -> str:
    """Return the dative plural: -n is added, except after -n and after the plural -s."""
    return plural if plural.endswith(("n", "s")) else plural + "n"


def english_noun(noun: Noun, number: Number = Number.SINGULAR) -> str:
    """The English form. Raises ValueError for the plural of a noun that has none."""
    if number is Number.SINGULAR:
        return noun.english
    if not noun.english_plural:
        raise ValueError(f"{noun.english} has no plural")
    return noun.english_plural


def english_possessive(word: str, number: Number = Number.SINGULAR) -> str:
    """Return "dog's", "dogs'" or "men's"."""
    return f"{word}'" if number is Number.PLURAL and word.endswith("s") else f"{word}'s"


def german_name_genitive(name: Name) -> str:
    """Return "Pauls"; after an s-sound only the apostrophe is written."""
    return name.text + ("'" if name.text.endswith(("s", "x", "z", "ß")) else "s")


def article(
    kind: str, case: Case, number: Number = Number.SINGULAR, gender: Gender = Gender.MASCULINE
) -> str:
    """Return an inflected article; ``kind`` is der, dieser, jeder, welcher, ein, kein or a
    possessive stem (sein, ihr).

    Raises ValueError for another kind and for the plural of ein and jeder, which have none.
    """
    cell = _cell(case, number, gender)
    if number is Number.PLURAL and kind in ("ein", "jeder"):
        raise ValueError(f"{kind} has no plural")
    if kind == "der":
        return DEFINITE_ARTICLE[cell]
    if kind in STRONG_STEMS:
        return STRONG_STEMS[kind] + STRONG_ENDINGS[cell]
    if kind in INDEFINITE_STEMS:
        return kind + INDEFINITE_ENDINGS[cell]
    raise ValueError(f"{kind!r} is not an article")


def determiner_kind(kind: str) -> Determiner:
    """What ``article(kind, ...)`` means for the adjective after it; "" is no article."""
    if not kind:
        return Determiner.NONE
    return Determiner.INDEFINITE if kind in INDEFINITE_STEMS else Determiner.DEFINITE


def adjective_ending(case: Case, number: Number, gender: Gender, determiner: Determiner) -> str:
    return ADJECTIVE_ENDINGS[determiner][_cell(case, number, gender)]


def attributive(
    adjective: Adjective,
    case: Case,
    number: Number,
    gender: Gender,
    determiner: Determiner,
    degree: Degree = Degree.POSITIVE,
) -> str:
    """The German form in front of a noun: "hohen", "höheren", "höchsten".

    This and the other forms by degree raise ValueError where an adjective has no comparison.
    """
    stem = _of_degree(
        adjective,
        degree,
        adjective.attributive,
        adjective.german_comparative,
        adjective.german_superlative,
    )
    return stem + adjective_ending(case, number, gender, determiner)


def predicative(adjective: Adjective, degree: Degree = Degree.POSITIVE) -> str:
    """The German form after sein: "hoch", "höher", "am höchsten"."""
    return _of_degree(
        adjective,
        degree,
        adjective.german,
        adjective.german_comparative,
        f"am {adjective.german_superlative}en",
    )


def english_adjective(adjective: Adjective, degree: Degree = Degree.POSITIVE) -> str:
    """The English form, without an article: "high", "higher", "highest"."""
    return _of_degree(
        adjective, degree, adjective.english, adjective.comparative, adjective.superlative
    )


def _of_degree(
    adjective: Adjective, degree: Degree, positive: str, comparative: str, superlative: str
) -> str:
    if degree is Degree.POSITIVE:
        return positive
    if not adjective.graded:
        raise ValueError(f"{adjective.english} has no {degree}")
    return comparative if degree is Degree.COMPARATIVE else superlative


def personal_pronoun(
    case: Case, number: Number = Number.SINGULAR, gender: Gender = Gender.MASCULINE
) -> str:
    """Return er, ihn, ihm … by the antecedent's gender and number."""
    return PERSONAL_PRONOUN[_cell(case, number, gender)]


def relative_pronoun(
    case: Case, number: Number = Number.SINGULAR, gender: Gender = Gender.MASCULINE
) -> str:
    """Return der, den, dem, dessen … by the antecedent's gender and number."""
    return RELATIVE_PRONOUN[_cell(case, number, gender)]


def english_relative(person: bool, case: Case) -> str:
    """Return who, whom or whose for persons, which and whose for all else; the dative is an
    object."""
    if case is Case.GENITIVE:
        return "whose"
    if not person:
        return "which"
    return "who" if case is Case.NOMINATIVE else "whom"


def english_pronoun(pronoun: str, case: Case) -> str:
    """Return "he", "him" or "his": the genitive is the possessive determiner."""
    subject, other, possessive = ENGLISH_PRONOUNS[pronoun]
    if case is Case.NOMINATIVE:
        return subject
    return possessive if case is Case.GENITIVE else other


def indefinite_article(word: str) -> str:
    """Return "a" or "an" by the sound of the word that follows."""
    lower = word.lower()
    if lower.startswith(SILENT_H):
        return "an"
    if lower.startswith(CONSONANT_SOUND) and not lower.startswith(UN_PREFIXED):
        return "a"
    return "an" if lower[:1] in ("a", "e", "i", "o", "u") else "a"
