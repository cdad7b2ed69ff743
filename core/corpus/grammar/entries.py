"""What the lexicon says of a word: its forms in both languages and what it can go with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Gender(StrEnum):
    MASCULINE = "m"
    FEMININE = "f"
    NEUTER = "n"


class Case(StrEnum):
    NOMINATIVE = "nom"
    ACCUSATIVE = "acc"
    DATIVE = "dat"
    GENITIVE = "gen"


class Number(StrEnum):
    SINGULAR = "sg"
    PLURAL = "pl"


class SemanticClass(StrEnum):
    """What a noun names; verbs and adjectives list the classes they go with."""

    PERSON = "person"
    ANIMAL = "animal"
    VEHICLE = "vehicle"
    BUILDING = "building"
    PLACE = "place"
    FOOD = "food"
    DRINK = "drink"
    DOCUMENT = "document"
    TOOL = "tool"
    CLOTHING = "clothing"
    FURNITURE = "furniture"
    INSTITUTION = "institution"
    WEATHER = "weather"
    FEELING = "feeling"
    PLANT = "plant"
    BODY = "body"
    EVENT = "event"
    ACTIVITY = "activity"
    IDEA = "idea"


class Frame(StrEnum):
    """The complements a verb takes; German case and preposition are named where they differ."""

    INTRANSITIVE = "intransitive"
    TRANSITIVE = "transitive"
    DATIVE = "dative"
    DITRANSITIVE = "ditransitive"
    PREPOSITIONAL = "prepositional"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    english: str
    english_plural: str
    german: str
    gender: Gender
    genitive: str
    plural: str
    semantic: SemanticClass
    pronoun: str = "it"
    weak: bool = False
    countable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A given name; ``pronoun`` is "he" or "she"."""

    english: str
    german: str
    pronoun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """Third-person forms. A separable verb's finite forms come without their particle."""

    base: str
    third: str
    past: str
    participle: str
    infinitive: str
    present_singular: str
    present_plural: str
    past_singular: str
    past_plural: str
    german_participle: str
    auxiliary: str
    frame: Frame
    subjects: frozenset[SemanticClass]
    objects: frozenset[SemanticClass] = frozenset()
    particle: str = ""
    english_particle: str = ""
    english_preposition: str = ""
    german_preposition: str = ""
    preposition_case: Case | None = None
    passive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjective:
    """``attributive`` is the German stem that takes endings: "müd", "hoh", "dunkl"."""

    english: str
    comparative: str
    superlative: str
    german: str
    attributive: str
    german_comparative: str
    german_superlative: str
    classes: frozenset[SemanticClass]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adverb:
    """``kind``: "time", "frequency", "manner", "degree" or "place"."""

    english: str
    german: str
    kind: str
    tenses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preposition:
    """``case`` None: two-way, accusative for a direction and dative for a place."""

    english: str
    german: str
    case: Case | None
    objects: frozenset[SemanticClass]
