"""Verbs with a clause as object, and the conjunctions between clauses."""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.grammar.entries import EnglishVerb, GermanVerb, Tense


@dataclass(frozen=True, slots=True)
class ClauseVerb:
    """A verb of saying or knowing; ``whether`` rather than "that" follows where it is asked."""

    english: EnglishVerb
    german: GermanVerb
    whether: bool = False


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A subordinating conjunction; ``tenses`` are those that the main clause can have.

    ``states``: the clause may say how something is, not only what happens.
    """

    english: str
    german: str
    states: bool = False
    tenses: frozenset[Tense] = frozenset(Tense)


def _clause_verb(english: str, german: str, *, whether: bool = False) -> ClauseVerb:
    base, third, past, participle = english.split()
    infinitive, present, past_singular, german_participle = german.split()
    return ClauseVerb(
        EnglishVerb(base=base, third=third, past=past, participle=participle),
        GermanVerb(
            infinitive=infinitive,
            present_singular=present,
            present_plural=infinitive,
            past_singular=past_singular,
            past_plural=past_singular + ("n" if past_singular.endswith("e") else "en"),
            participle=german_participle,
        ),
        whether,
    )


CLAUSE_VERBS = (
    _clause_verb("say says said said", "sagen sagt sagte gesagt"),
    _clause_verb("know knows knew known", "wissen weiß wusste gewusst"),
    _clause_verb("think thinks thought thought", "denken denkt dachte gedacht"),
    _clause_verb("believe believes believed believed", "glauben glaubt glaubte geglaubt"),
    _clause_verb("hope hopes hoped hoped", "hoffen hofft hoffte gehofft"),
    _clause_verb("claim claims claimed claimed", "behaupten behauptet behauptete behauptet"),
    _clause_verb("notice notices noticed noticed", "bemerken bemerkt bemerkte bemerkt"),
    _clause_verb("fear fears feared feared", "befürchten befürchtet befürchtete befürchtet"),
    _clause_verb("hear hears heard heard", "hören hört hörte gehört"),
    _clause_verb("see sees saw seen", "sehen sieht sah gesehen"),
    _clause_verb("forget forgets forgot forgotten", "vergessen vergisst vergaß vergessen"),
    _clause_verb("report reports reported reported", "berichten berichtet berichtete berichtet"),
    _clause_verb("doubt doubts doubted doubted", "bezweifeln bezweifelt bezweifelte bezweifelt"),
    _clause_verb("ask asks asked asked", "fragen fragt fragte gefragt", whether=True),
)
THAT_VERBS = tuple(verb for verb in CLAUSE_VERBS if not verb.whether)

PRESENT_AND_FUTURE = frozenset({Tense.PRESENT, Tense.FUTURE})
PAST_ONLY = frozenset({Tense.PAST})
CONJUNCTIONS = (
    Conjunction("because", "weil", True),
    Conjunction("although", "obwohl", True),
    Conjunction("if", "wenn", True, PRESENT_AND_FUTURE),
    Conjunction("when", "als", False, PAST_ONLY),
    Conjunction("while", "während", False, frozenset({Tense.PAST, Tense.PRESENT})),
    Conjunction("before", "bevor", False, PAST_ONLY),
    Conjunction("until", "bis", False, PAST_ONLY | PRESENT_AND_FUTURE),
)
