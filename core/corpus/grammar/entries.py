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


class Tense(StrEnum):
    PRESENT = "present"
    PAST = "past"
    PERFECT = "perfect"
    FUTURE = "future"


class Degree(StrEnum):
    POSITIVE = "positive"
    COMPARATIVE = "comparative"
    SUPERLATIVE = "superlative"


class SemanticClass(StrEnum):
    """What a noun names; verbs, adjectives and prepositions list the classes they go with."""

    PERSON = "person"
    ANIMAL = "animal"
    VEHICLE = "vehicle"
    BUILDING = "building"
    PLACE = "place"  # one is in it: city, garden
    WAY = "way"  # one is on it, or crosses it: street, bridge, square
    WATER = "water"  # river, lake
    FOOD = "food"
    DRINK = "drink"
    DOCUMENT = "document"
    TOOL = "tool"  # needs no power: hammer, bucket
    DEVICE = "device"  # can be turned on: lamp, computer
    CLOTHING = "clothing"
    FURNITURE = "furniture"
    INSTITUTION = "institution"
    WEATHER = "weather"
    FEELING = "feeling"
    PLANT = "plant"
    EVENT = "event"
    ACTIVITY = "activity"
    IDEA = "idea"


class Frame(StrEnum):
    """The complements a verb takes besides its subject, seen from German.

    English may need a preposition all the same: "listen to" takes a dative, "look for" an
    accusative.
    """

    INTRANSITIVE = "intransitive"
    TRANSITIVE = "transitive"  # an accusative object
    DATIVE = "dative"  # a dative object, plain object in English
    DITRANSITIVE = "ditransitive"  # a dative person and an accusative thing (``objects``)
    PREPOSITIONAL = "prepositional"  # an object with the prepositions the verb names
    LOCATIVE = "locative"  # a place: sit, live
    DIRECTIONAL = "directional"  # a direction: go, jump


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """A noun without number forms of its own (``countable`` False) has empty plurals.

    A weak noun has its genitive form in the accusative and dative singular too.
    ``pronoun`` is "he" or "she" for persons, otherwise "it". ``wide``: see ``lexicon``.
    """

    english: str
    english_plural: str
    german: str
    gender: Gender
    genitive: str
    plural: str
    semantic: SemanticClass
    pronoun: str = "it"
    weak: bool = False
    wide: bool = False

    @property
    def countable(self) -> bool:
        return bool(self.plural)


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A given name, the same in both languages; ``pronoun`` is "he" or "she"."""

    text: str
    pronoun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnglishVerb:
    """An English verb; ``particle`` follows it ("pick up"), ``preposition`` precedes its object."""

    base: str
    third: str
    past: str
    participle: str
    particle: str = ""
    preposition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GermanVerb:
    """The finite forms of the third person of a German verb, without the separable ``particle``.

    ``infinitive`` ("anrufen") and ``participle`` ("angerufen") include it. ``auxiliary``, "haben"
    or "sein", builds the perfect. ``preposition`` and its ``case`` belong to the object.
    """

    infinitive: str
    present_singular: str
    present_plural: str
    past_singular: str
    past_plural: str
    participle: str
    auxiliary: str = "haben"
    particle: str = ""
    preposition: str = ""
    case: Case | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb in both languages; ``passive`` says whether the clause has a passive in both (with
    werden in German).

    ``wide``: see ``lexicon``.
    """

    english: EnglishVerb
    german: GermanVerb
    frame: Frame
    subjects: frozenset[SemanticClass]
    objects: frozenset[SemanticClass] = frozenset()
    passive: bool = False
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Causative:
    """The phrase ``make`` X ``comparative`` ("more difficult"), which German says in one verb:
    erschweren."""

    comparative: str
    german: GermanVerb
    objects: frozenset[SemanticClass]


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteForms:
    """The third-person forms of a verb; empty where it lacks the tense."""

    present_singular: str
    present_plural: str
    past_singular: str
    past_plural: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Modal:
    """A modal verb; ``negated`` is English only ("does not have to"), German adds nicht."""

    english: FiniteForms
    negated: FiniteForms
    german: FiniteForms
    infinitive: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjective:
    """An adjective; ``german`` is predicative, the other German forms are stems that take endings.

    ``attributive``: "müd", "hoh", "dunkl". The comparative stem stands predicatively as it is,
    the superlative as "am" + stem + "en". Without comparison ("red", "blind") both are empty.
    ``wide``: see ``lexicon``.
    """

    english: str
    comparative: str
    superlative: str
    german: str
    attributive: str
    german_comparative: str
    german_superlative: str
    classes: frozenset[SemanticClass]
    wide: bool = False

    @property
    def graded(self) -> bool:
        return bool(self.comparative)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adverb:
    """An adverb; ``kind`` is "time", "frequency", "manner", "degree", "place" or "sentence".

    ``tenses``: those it goes with. Either side may have several words ("every day").
    """

    english: str
    german: str
    kind: str
    tenses: frozenset[Tense] = frozenset(Tense)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preposition:
    """A preposition; with ``case`` None it is two-way, accusative for a direction and dative for a
    place.

    ``relation``: "place", "direction", "source", "time", "cause", "company", "topic", "benefit"
    or "agent".
    """

    english: str
    german: str
    case: Case | None
    relation: str
    objects: frozenset[SemanticClass]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeral:
    english: str
    german: str
