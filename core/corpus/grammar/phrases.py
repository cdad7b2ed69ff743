"""Noun phrases and prepositional phrases in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Adjective, Case, Degree, Gender, Name, Noun, Number, Numeral
from core.corpus.grammar.morphology import (
    attributive,
    english_adjective,
    english_noun,
    english_pronoun,
    indefinite_article,
    noun_form,
    personal_pronoun,
)
from core.corpus.grammar.sentence import English, German, Tree
from core.corpus.grammar.specifiers import INDEFINITE, NO, THE, A, Specifier

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("bei", "dem"): "beim",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
}

PRONOUN_GENDERS = {"he": Gender.MASCULINE, "she": Gender.FEMININE, "they": Gender.NEUTER}


@dataclass(slots=True)
class Phrase:
    """A noun phrase with its German in the case that was asked for.

    ``head`` and ``german_head`` are the nouns. ``tail`` is the German relative clause, which may
    move away from its noun. ``modified``: a PP or genitive follows the noun. ``kein`` is the
    determiner that took in the clause's negation, ``article`` the definite article that a
    preposition may swallow.
    """

    tree: Tree
    german: list[German]
    head: English
    german_head: German
    number: Number
    noun: Noun | None = None
    tail: list[German] = field(default_factory=list)
    pronoun: bool = False
    modified: bool = False
    kein: German | None = None
    article: German | None = None


def comma() -> German:
    return German(",")


def english_comma() -> English:
    return English(",", "punctuation")


def adjective_words(adjective: Adjective, degree: Degree = Degree.POSITIVE) -> list[English]:
    """The English words of one form: "old", "older", "more difficult"; the last is the adjective
    itself."""
    *more, word = english_adjective(adjective, degree).split(" ")
    return [*(English(part, "adverb") for part in more), English(word, "adjective")]


def noun_phrase(
    draft: Draft,
    noun: Noun,
    case: Case,
    *,
    number: Number = Number.SINGULAR,
    specifier: Specifier = THE,
    adjectives: Sequence[Adjective] = (),
    degree: Degree = Degree.POSITIVE,
    numeral: Numeral | None = None,
    conjunction: tuple[str, str] | None = None,
    negator: English | None = None,
) -> Phrase:
    """Return a phrase of specifier, numeral, adjectives and noun.

    ``conjunction``, in English and German, stands before each later adjective. ``negator`` is the
    negated verb of the clause: an indefinite phrase then gets "kein".
    """
    gender = noun.gender
    head = English(english_noun(noun, number), "noun")
    german_head = German(noun_form(noun, case, number), head)
    english: list[Tree | English] = []
    german: list[German] = []
    kein: German | None = None
    article: German | None = None
    declension = specifier.declension
    opening: English | None = None
    text = specifier.english(number)
    if text:
        opening = English(text, specifier.tag)
        english.append(opening)
    if negator is not None and specifier in INDEFINITE:
        origins = (negator,) if opening is None else (opening, negator)
        kein = German(NO.german(case, number, gender), *origins)
        german.append(kein)
        declension = NO.declension
    elif opening is not None:
        article = German(specifier.german(case, number, gender), opening)
        german.append(article)
    if numeral is not None:
        count = English(numeral.english, "number")
        english.append(count)
        german.append(German(numeral.german, count))
    for position, adjective in enumerate(adjectives):
        if conjunction is not None and position:
            link = English(conjunction[0], "conjunction")
            english.append(link)
            if conjunction[1] == "aber":
                german.append(comma())
            german.append(German(conjunction[1], link))
        words = adjective_words(adjective, degree)
        german_word = German(
            attributive(adjective, case, number, gender, declension, degree), *words
        )
        english += words
        german.append(german_word)
        draft.link(DependencyKind.ATTRIBUTE, words[-1], head)
        draft.link(DependencyKind.ATTRIBUTE, german_word, german_head)
    english.append(head)
    german.append(german_head)
    if specifier is A and opening is not None:
        following = english[1]
        assert isinstance(following, English)
        opening.text = indefinite_article(following.text)
    return Phrase(
        Tree("NP", *english),
        german,
        head,
        german_head,
        number,
        noun,
        kein=kein,
        article=article if specifier is THE else None,
    )


def name_phrase(name: Name) -> Phrase:
    head = English(name.text, "name")
    german_head = German(name.text, head)
    return Phrase(Tree("NP", head), [german_head], head, german_head, Number.SINGULAR)


def pronoun_phrase(pronoun: str, case: Case, gender: Gender | None = None) -> Phrase:
    """Return a pronoun as a phrase; ``pronoun`` is "he", "she", "they", or "it" with the
    antecedent's German ``gender``."""
    number = Number.PLURAL if pronoun == "they" else Number.SINGULAR
    if gender is None:
        gender = PRONOUN_GENDERS[pronoun]
    head = English(english_pronoun(pronoun, case), "pronoun")
    german_head = German(personal_pronoun(case, number, gender), head)
    return Phrase(Tree("NP", head), [german_head], head, german_head, number, pronoun=True)


def prepositional(english: str, german: str, phrase: Phrase) -> tuple[Tree, list[German]]:
    """The PP of ``phrase``, without its tail; preposition and article contract ("im", "zur").

    They stay apart before a relative clause, which needs the full article: "in dem Haus, das".
    """
    words = [English(text, "preposition") for text in english.split(" ")]
    tree = Tree("PP", *words, phrase.tree)
    if phrase.article is not None and not phrase.tail:
        contraction = CONTRACTIONS.get((german, phrase.article.text))
        if contraction is not None:
            merged = German(contraction, *words, *phrase.article.sources)
            return tree, [merged, *phrase.german[1:]]
    return tree, [German(german, *words), *phrase.german]


def with_modifier(phrase: Phrase, tree: Tree, german: list[German]) -> Phrase:
    """Return ``phrase`` with a PP or genitive after its noun."""
    phrase.tree = Tree("NP", phrase.tree, tree)
    phrase.german = [*phrase.german, *german]
    phrase.modified = True
    return phrase


def of_phrase(phrase: Phrase, owner: Phrase) -> Phrase:
    """Return ``phrase`` of ``owner``, whose German is in the genitive."""
    tree = Tree("PP", English("of", "preposition"), owner.tree)
    return with_modifier(phrase, tree, owner.german)
