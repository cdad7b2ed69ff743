"""Verb groups: auxiliaries, main verb and particle in both languages, for every tense and voice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from core.corpus.grammar.conjugation import (
    BE,
    CONTRACTED_NOT,
    DO,
    GERMAN_AUXILIARIES,
    HAVE,
    MODALS,
    WERDEN,
    WILL,
    english_finite,
    finite,
    verb_final,
)
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import EnglishVerb, GermanVerb, Modal, Number, Tense
from core.corpus.grammar.sentence import English, German

BE_VERB = EnglishVerb(base="be", third="is", past="was", participle="been")
SEIN_VERB = GermanVerb(
    infinitive="sein",
    present_singular="ist",
    present_plural="sind",
    past_singular="war",
    past_plural="waren",
    participle="gewesen",
    auxiliary="sein",
)
SIMPLE = (Tense.PRESENT, Tense.PAST)


CAN, MUST, WANT, SHOULD, MAY = MODALS
OF_THE_LIVING = (WANT, MAY)


@cache
def modals(tense: Tense, *, living: bool = True) -> tuple[Modal, ...]:
    """The modal verbs with a form in ``tense``, for a subject that is ``living`` or not."""
    return tuple(
        modal
        for modal in MODALS
        if (living or modal not in OF_THE_LIVING)
        and (modal.german.past_singular if tense is Tense.PAST else modal.german.present_singular)
    )


@dataclass(slots=True)
class VerbGroup:
    """The verb words of one clause.

    English: ``auxiliaries``, ``main``, ``particle``; the first verb is finite. German: ``finite``,
    and in a main clause ``bracket`` at its end; in a verb-final clause ``finite`` comes after it.
    ``german_main`` is the word with the meaning, ``negator`` the English word that negates.
    """

    auxiliaries: list[English]
    main: English
    particle: English | None
    finite: German
    bracket: list[German]
    german_main: German
    negator: English | None

    @property
    def english_finite(self) -> English:
        return self.auxiliaries[0] if self.auxiliaries else self.main


def verb_group(
    draft: Draft,
    english: EnglishVerb,
    german: GermanVerb,
    *,
    tense: Tense,
    number: Number,
    modal: Modal | None = None,
    negated: bool = False,
    passive: bool = False,
    inverted: bool = False,
    final: bool = False,
) -> VerbGroup:
    """The verb words for a third-person subject of ``number``.

    ``modal`` goes with present and past. ``inverted`` asks for an English auxiliary before the
    subject, ``final`` for the German forms of a verb-final clause.
    """
    opening = _opening(english, tense, number, modal, negated, passive, inverted)
    rest = _rest(english, tense, number, modal, passive, bare=not opening)
    negator: English | None = None
    if negated and modal is None:
        first = opening or rest
        first[0] = CONTRACTED_NOT[first[0]]
    openers = [English(text, "verb") for text in opening]
    *helpers, main = [English(text, "verb") for text in rest]
    auxiliaries = [*openers, *helpers]
    if negated:
        first_words = auxiliaries or [main]
        negator = next((word for word in openers if word.text == "not"), first_words[0])
    particle = English(english.particle, "particle") if english.particle else None
    own = (main,) if particle is None else (main, particle)

    # German: the verb with the meaning, the passive auxiliary, the finite verb.
    bracket: list[German] = []
    compound = bool(modal) or tense not in SIMPLE
    if passive:
        german_main = German(german.participle, *own)
        bracket.append(german_main)
        if compound:
            worden = tense is Tense.PERFECT
            bracket.append(German("worden" if worden else "werden", *helpers))
    elif compound:
        text = german.participle if tense is Tense.PERFECT else german.infinitive
        german_main = German(text, *own)
        bracket.append(german_main)
    if compound:
        finite_word = German(_german_auxiliary(german, tense, number, modal, passive), *openers)
    elif passive:
        finite_word = German(finite(WERDEN, tense, number), *helpers)
    elif final:
        german_main = finite_word = German(verb_final(german, tense, number), *own)
    else:
        german_main = finite_word = German(finite(german, tense, number), main)
        if german.particle:
            bracket.append(German(german.particle, *own))
            draft.link(DependencyKind.PARTICLE, bracket[0], finite_word)

    if particle is not None:
        draft.link(DependencyKind.PARTICLE, particle, main)
    if passive:
        draft.link(DependencyKind.PASSIVE, main, helpers[0])
        draft.link(DependencyKind.PASSIVE, german_main, bracket[1] if compound else finite_word)
    if compound:
        kind = DependencyKind.PERFECT if tense is Tense.PERFECT else DependencyKind.FUTURE
        if modal is not None:
            kind = DependencyKind.MODAL
        draft.link(kind, helpers[0] if helpers else main, openers[0])
        draft.link(kind, bracket[-1], finite_word)
    return VerbGroup(auxiliaries, main, particle, finite_word, bracket, german_main, negator)


def _opening(
    english: EnglishVerb,
    tense: Tense,
    number: Number,
    modal: Modal | None,
    negated: bool,
    passive: bool,
    inverted: bool,
) -> list[str]:
    """The English words before the infinitive or participle."""
    if modal is not None:
        text = finite(modal.negated if negated else modal.english, tense, number)
        return _contracted(text).split(" ")
    if tense is Tense.FUTURE:
        return [WILL.present_singular]
    if tense is Tense.PERFECT:
        return [finite(HAVE, Tense.PRESENT, number)]
    if (negated or inverted) and not passive and english is not BE_VERB:
        return [finite(DO, tense, number)]
    return []


def _contracted(negated: str) -> str:
    """ "does not have to" as "doesn't have to"; "may not" has no short form."""
    first, _, rest = negated.partition(" not")
    if negated == "cannot":
        return CONTRACTED_NOT["can"]
    if first == negated or first not in CONTRACTED_NOT:
        return negated
    return CONTRACTED_NOT[first] + rest


def _rest(
    english: EnglishVerb,
    tense: Tense,
    number: Number,
    modal: Modal | None,
    passive: bool,
    *,
    bare: bool,
) -> list[str]:
    """The English words from "be" or the verb itself on; the first is finite if ``bare``."""
    perfect = tense is Tense.PERFECT and modal is None
    if passive:
        if bare:
            return [finite(BE, tense, number), english.participle]
        return ["been" if perfect else "be", english.participle]
    if not bare:
        return [english.participle if perfect else english.base]
    if english is BE_VERB:
        return [finite(BE, tense, number)]
    return [english_finite(english, tense, number)]


def _german_auxiliary(
    german: GermanVerb, tense: Tense, number: Number, modal: Modal | None, passive: bool
) -> str:
    if modal is not None:
        return finite(modal.german, tense, number)
    if tense is Tense.FUTURE:
        return finite(WERDEN, Tense.PRESENT, number)
    auxiliary = "sein" if passive else german.auxiliary
    return finite(GERMAN_AUXILIARIES[auxiliary], Tense.PRESENT, number)
