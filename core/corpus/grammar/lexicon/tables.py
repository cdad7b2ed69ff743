"""Reads the lexicon's tables: tab-separated, the first line names the columns.

Nouns, verbs and adjectives have a second table each, "wide_nouns" and so on, of wide entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from core.corpus.grammar.entries import (
    Adjective,
    Adverb,
    Case,
    Causative,
    EnglishVerb,
    Frame,
    Gender,
    GermanVerb,
    Name,
    Noun,
    Numeral,
    Preposition,
    SemanticClass,
    Tense,
    Verb,
)

GROUPS = {
    "living": ("person", "animal"),
    "portable": ("tool", "device", "clothing", "document"),
    "goods": (
        *("food", "drink", "document", "clothing"),
        *("tool", "device", "furniture", "vehicle"),
    ),
    "material": (
        *("person", "animal", "vehicle", "building", "place", "way", "water", "food", "drink"),
        *("document", "tool", "device", "clothing", "furniture", "plant"),
    ),
    "all": tuple(SemanticClass),
}
"""Names that a table may use for several semantic classes."""


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of ``name``.tsv by column name. Raises ValueError at a row of another length."""
    text = files(__package__).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    header, *lines = text.rstrip("\n").split("\n")
    columns = header.split("\t")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]


def _both(name: str) -> Iterator[tuple[bool, dict[str, str]]]:
    """The rows of table ``name``, then those of the wide one; each with whether it is wide."""
    for wide, table in ((False, name), (True, f"wide_{name}")):
        for row in read_table(table):
            yield wide, row


def classes(text: str) -> frozenset[SemanticClass]:
    """The semantic classes of a comma-separated list of classes and groups."""
    names = text.split(",") if text else []
    return frozenset(
        SemanticClass(member) for name in names for member in GROUPS.get(name, (name,))
    )


def read_nouns() -> tuple[Noun, ...]:
    return tuple(
        Noun(
            wide=wide,
            english=row["english"],
            english_plural=row["english_plural"],
            german=row["german"],
            gender=Gender(row["gender"]),
            genitive=row["genitive"],
            plural=row["plural"],
            semantic=SemanticClass(row["class"]),
            pronoun=row["pronoun"],
            weak=row["declension"] == "weak",
        )
        for wide, row in _both("nouns")
    )


def german_verb(row: dict[str, str]) -> GermanVerb:
    """The plurals follow from the infinitive and from the past singular in every verb but sein."""
    particle = row["german_particle"]
    past = row["past_singular"]
    case = row.get("case")
    return GermanVerb(
        infinitive=row["infinitive"],
        present_singular=row["present_singular"],
        present_plural=row["infinitive"].removeprefix(particle),
        past_singular=past,
        past_plural=past + ("n" if past.endswith("e") else "en"),
        participle=row["german_participle"],
        auxiliary=row.get("auxiliary", "haben"),
        particle=particle,
        preposition=row.get("german_preposition", ""),
        case=Case(case) if case else None,
    )


def read_verbs() -> tuple[Verb, ...]:
    return tuple(
        Verb(
            wide=wide,
            english=EnglishVerb(
                base=row["base"],
                third=row["third"],
                past=row["past"],
                participle=row["participle"],
                particle=row["particle"],
                preposition=row["preposition"],
            ),
            german=german_verb(row),
            frame=Frame(row["frame"]),
            subjects=classes(row["subjects"]),
            objects=classes(row["objects"]),
            passive=row["passive"] == "passive",
        )
        for wide, row in _both("verbs")
    )


def read_causatives() -> tuple[Causative, ...]:
    return tuple(
        Causative(
            comparative=row["comparative"],
            german=german_verb(row),
            objects=classes(row["objects"]),
        )
        for row in read_table("causatives")
    )


def read_adjectives() -> tuple[Adjective, ...]:
    return tuple(
        Adjective(
            wide=wide,
            english=row["english"],
            comparative=row["comparative"],
            superlative=row["superlative"],
            german=row["german"],
            attributive=row["attributive"],
            german_comparative=row["german_comparative"],
            german_superlative=row["german_superlative"],
            classes=classes(row["classes"]),
        )
        for wide, row in _both("adjectives")
    )


def read_adverbs() -> tuple[Adverb, ...]:
    """An empty list of tenses stands for all of them."""
    return tuple(
        Adverb(
            english=row["english"],
            german=row["german"],
            kind=row["kind"],
            tenses=frozenset(
                Tense(name) for name in (row["tenses"].split(",") if row["tenses"] else Tense)
            ),
        )
        for row in read_table("adverbs")
    )


def read_prepositions() -> tuple[Preposition, ...]:
    return tuple(
        Preposition(
            english=row["english"],
            german=row["german"],
            case=Case(row["case"]) if row["case"] else None,
            relation=row["relation"],
            objects=classes(row["objects"]),
        )
        for row in read_table("prepositions")
    )


def read_names() -> tuple[Name, ...]:
    return tuple(Name(text=row["name"], pronoun=row["pronoun"]) for row in read_table("names"))


def read_numerals() -> tuple[Numeral, ...]:
    return tuple(
        Numeral(english=row["english"], german=row["german"]) for row in read_table("numerals")
    )
