"""Finite verb forms of the third person in both languages; modals and auxiliaries."""

from __future__ import annotations

from core.corpus.grammar.entries import (
    EnglishVerb,
    FiniteForms,
    GermanVerb,
    Modal,
    Number,
    Tense,
)


def finite(forms: GermanVerb | FiniteForms, tense: Tense, number: Number) -> str:
    """The present or past form, without a separable particle.

    Raises ValueError for the compound tenses, which have no form of one word, and where a
    defective verb lacks the form.
    """
    if tense not in (Tense.PRESENT, Tense.PAST):
        raise ValueError(f"the {tense} is a compound tense")
    singular = number is Number.SINGULAR
    if tense is Tense.PRESENT:
        form = forms.present_singular if singular else forms.present_plural
    else:
        form = forms.past_singular if singular else forms.past_plural
    if not form:
        raise ValueError(f"no {tense} of {forms.present_singular}")
    return form


def verb_final(verb: GermanVerb, tense: Tense, number: Number) -> str:
    """The finite form at the end of a subordinate clause, with its particle: "anruft"."""
    return verb.particle + finite(verb, tense, number)


def english_finite(verb: EnglishVerb, tense: Tense, number: Number) -> str:
    """The form of the verb itself, without particle. Raises ValueError for compound tenses."""
    if tense is Tense.PAST:
        return verb.past
    if tense is Tense.PRESENT:
        return verb.third if number is Number.SINGULAR else verb.base
    raise ValueError(f"the {tense} is a compound tense")


def _finite_forms(present: str, past: str) -> FiniteForms:
    """From "singular/plural" of each tense; one form alone stands for both numbers."""
    present_singular, _, present_plural = present.partition("/")
    past_singular, _, past_plural = past.partition("/")
    return FiniteForms(
        present_singular=present_singular,
        present_plural=present_plural or present_singular,
        past_singular=past_singular,
        past_plural=past_plural or past_singular,
    )


HABEN = _finite_forms("hat/haben", "hatte/hatten")
SEIN = _finite_forms("ist/sind", "war/waren")
WERDEN = _finite_forms("wird/werden", "wurde/wurden")
GERMAN_AUXILIARIES = {"haben": HABEN, "sein": SEIN, "werden": WERDEN}

HAVE = _finite_forms("has/have", "had")
BE = _finite_forms("is/are", "was/were")
DO = _finite_forms("does/do", "did")
WILL = _finite_forms("will", "")
MAKE = EnglishVerb(base="make", third="makes", past="made", participle="made")

CONTRACTED_NOT = {
    **{form: f"{form}n't" for form in ("is", "are", "was", "were", "has", "have", "had")},
    **{form: f"{form}n't" for form in ("does", "do", "did", "should", "could")},
    "will": "won't",
    "can": "can't",
}
"""English auxiliaries joined with "not"."""

MODALS = (
    Modal(
        english=_finite_forms("can", "could"),
        negated=_finite_forms("can't", "couldn't"),
        german=_finite_forms("kann/können", "konnte/konnten"),
        infinitive="können",
    ),
    Modal(
        english=_finite_forms("must", "had to"),
        negated=_finite_forms("doesn't have to/don't have to", "didn't have to"),
        german=_finite_forms("muss/müssen", "musste/mussten"),
        infinitive="müssen",
    ),
    Modal(
        english=_finite_forms("wants to/want to", "wanted to"),
        negated=_finite_forms("doesn't want to/don't want to", "didn't want to"),
        german=_finite_forms("will/wollen", "wollte/wollten"),
        infinitive="wollen",
    ),
    Modal(
        english=_finite_forms("should", ""),
        negated=_finite_forms("shouldn't", ""),
        german=_finite_forms("sollte/sollten", ""),
        infinitive="sollen",
    ),
    Modal(
        english=_finite_forms("may", "was allowed to/were allowed to"),
        negated=_finite_forms("may not", "wasn't allowed to/weren't allowed to"),
        german=_finite_forms("darf/dürfen", "durfte/durften"),
        infinitive="dürfen",
    ),
)
