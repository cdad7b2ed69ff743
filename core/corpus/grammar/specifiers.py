"""The words that open a noun phrase: articles, demonstratives, quantifiers, possessives."""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.grammar.entries import Case, Gender, Name, Number
from core.corpus.grammar.morphology import (
    STRONG_ENDINGS,
    Determiner,
    article,
    determiner_kind,
    english_possessive,
    german_name_genitive,
)


@dataclass(frozen=True, slots=True)
class Specifier:
    """The English words of a specifier by number; empty means no word, or a number that it does not
    go with.

    ``kind`` is what ``morphology.article`` calls it; ``stem``, where given, takes strong plural
    endings instead ("viel" + "en"), and ``fixed`` takes none ("Annas").
    """

    singular: str = ""
    plural: str = ""
    kind: str = ""
    stem: str = ""
    fixed: str = ""
    tag: str = "determiner"

    def english(self, number: Number) -> str:
        return self.plural if number is Number.PLURAL else self.singular

    def german(self, case: Case, number: Number, gender: Gender) -> str:
        if self.fixed:
            return self.fixed
        if self.stem:
            return self.stem + STRONG_ENDINGS[case, Number.PLURAL]
        return article(self.kind, case, number, gender) if self.kind else ""

    @property
    def declension(self) -> Determiner:
        """Return which endings the adjectives after it take."""
        return determiner_kind(self.kind)


THE = Specifier("the", "the", "der", tag="article")
A = Specifier("a", "", "ein", tag="article")
BARE = Specifier()
THIS = Specifier("this", "these", "dieser")
EVERY = Specifier("every", "", "jeder")
WHICH = Specifier("which", "which", "welcher")
SOME = Specifier(plural="some", stem="einig")
MANY = Specifier(plural="many", stem="viel")
NO = Specifier("no", "no", "kein")
ITS = Specifier("its", "its", "sein", tag="pronoun")
HIS = Specifier("his", "his", "sein", tag="pronoun")
HER = Specifier("her", "her", "ihr", tag="pronoun")
THEIR = Specifier("their", "their", "ihr", tag="pronoun")
ITS_FEMININE = Specifier("its", "its", "ihr", tag="pronoun")

INDEFINITE = (A, BARE)


def named(owner: Name) -> Specifier:
    """Return "Anna's" and "Annas"."""
    english = english_possessive(owner.text)
    return Specifier(english, english, fixed=german_name_genitive(owner), tag="name")


def possessive(pronoun: str, gender: Gender, number: Number = Number.SINGULAR) -> Specifier:
    """The possessive for an owner of ``pronoun`` ("he", "she", "it") and German ``gender``."""
    if number is Number.PLURAL:
        return THEIR
    if pronoun == "he":
        return HIS
    if pronoun == "she":
        return HER
    return ITS_FEMININE if gender is Gender.FEMININE else ITS
