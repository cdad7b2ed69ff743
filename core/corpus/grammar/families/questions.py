"""The family "question": yes/no questions and question words in every role."""

from __future__ import annotations

from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import Case, Frame, Number, SemanticClass, Tense, Verb
from core.corpus.grammar.lexicon import NOUNS, VERBS
from core.corpus.grammar.nouns import random_noun, random_noun_phrase
from core.corpus.grammar.phrases import Phrase, noun_phrase
from core.corpus.grammar.predication import copula, random_modal, random_tense
from core.corpus.grammar.scenes import clause, complete, subject_phrase
from core.corpus.grammar.sentence import Composition, English, German, Tree
from core.corpus.grammar.specifiers import WHICH
from core.corpus.grammar.verbs import SIMPLE, verb_group
from core.corpus.grammar.vocabulary import verbs

WHO = {Case.NOMINATIVE: "wer", Case.ACCUSATIVE: "wen", Case.DATIVE: "wem"}
CIRCUMSTANCES = {"when": "wann", "why": "warum", "where": "wo", "how": "wie"}
PEOPLE = SemanticClass.PERSON
ACTIONS = verbs(Frame.TRANSITIVE, Frame.INTRANSITIVE, Frame.DITRANSITIVE)


def question(draft: Draft) -> tuple[Composition, ...]:
    forms = (_yes_no, _yes_no, _is, _subject, _object, _object, _about, _which, _circumstance)
    return (draft.pick(forms)(draft, random_tense(draft)),)


def _yes_no(draft: Draft, tense: Tense) -> Composition:
    verb = draft.pick(VERBS)
    subject = subject_phrase(draft, verb, negated=True)
    modal = None
    if tense in SIMPLE and draft.chance(0.25):
        modal = random_modal(draft, tense, subject)
        if " " in modal.english.past_singular or " " in modal.english.present_singular:
            modal = None
    asked = clause(draft, verb, tense=tense, subject=subject, modal=modal, inverted=True)
    return Composition(asked.english_question(), asked.first(), draft.links, "?")


def _is(draft: Draft, tense: Tense) -> Composition:
    """Is the house old? Ist das Haus alt?"""
    noun = draft.noun(NOUNS)
    subject = random_noun_phrase(draft, noun, Case.NOMINATIVE, definite=True, plain=True)
    asked = copula(draft, subject, draft.adjective(noun), tense=tense, inverted=True)
    return Composition(asked.english_question(), asked.first(), draft.links, "?")


def _subject(draft: Draft, tense: Tense) -> Composition:
    """Who saw the dog? Wer sah den Hund?"""
    verb = draft.pick(VERBS)
    if PEOPLE in verb.subjects:
        word, german_word = "who", "wer"
    else:
        word, german_word = "what", "was"
    english = English(word, "pronoun")
    german = German(german_word, english)
    subject = Phrase(Tree("WHNP", english), [german], english, german, Number.SINGULAR)
    asked = clause(draft, verb, tense=tense, subject=subject)
    tree = Tree("SBARQ", Tree("WHNP", english), Tree("SQ", asked.english_verb_phrase()))
    return Composition(tree, asked.second(), draft.links, "?")


def _asked(draft: Draft, verb: Verb, tense: Tense) -> Clause:
    subject = subject_phrase(draft, verb, negated=True)
    group = verb_group(
        draft, verb.english, verb.german, tense=tense, number=subject.number, inverted=True
    )
    return Clause(draft, subject, group)


def _fronted(
    draft: Draft,
    asked: Clause,
    tree: Tree,
    head: English,
    german: list[German],
    german_head: German,
) -> Composition:
    draft.link(DependencyKind.QUESTION, head, asked.verb.main)
    draft.link(DependencyKind.QUESTION, german_head, asked.verb.german_main)
    english = Tree("SBARQ", tree, asked.english_question())
    return Composition(english, asked.second(german), draft.links, "?")


def _object(draft: Draft, tense: Tense) -> Composition:
    """Who did he help? Wem half er? What did he buy? Was kaufte er?"""
    verb = draft.pick(verbs(Frame.TRANSITIVE, Frame.DATIVE))
    case = Case.ACCUSATIVE if verb.frame is Frame.TRANSITIVE else Case.DATIVE
    things = verb.objects - {PEOPLE, SemanticClass.ANIMAL}
    chosen = case is Case.DATIVE or not things or draft.chance(0.5)
    person = PEOPLE in verb.objects and chosen
    if case is Case.DATIVE and not person:
        return _yes_no(draft, tense)
    asked = _asked(draft, verb, tense)
    head = English("who" if person else "what", "pronoun")
    german = German(WHO[case] if person else "was", head)
    _strand(asked, verb)
    return _fronted(draft, asked, Tree("WHNP", head), head, [german], german)


def _strand(asked: Clause, verb: Verb) -> tuple[English, ...]:
    """Leave the preposition behind: "Who did he look at?" """
    words = tuple(
        English(text, "preposition") for text in verb.english.preposition.split(" ") if text
    )
    if words:
        asked.english_after.append(Tree("PP", *words))
    return words


def _about(draft: Draft, tense: Tense) -> Composition:
    """Who did he wait for? Auf wen wartete er? What did he wait for? Worauf wartete er?"""
    verb = draft.pick(verbs(Frame.PREPOSITIONAL))
    case = verb.german.case
    assert case is not None
    things = verb.objects - {PEOPLE}
    person = PEOPLE in verb.objects and (not things or draft.chance(0.5))
    asked = _asked(draft, verb, tense)
    head = English("who" if person else "what", "pronoun")
    words = _strand(asked, verb)
    preposition = verb.german.preposition
    if person:
        german = [German(preposition, *words), German(WHO[case], head)]
    else:
        joint = "r" if preposition[0] in "aeiouäöü" else ""
        german = [German(f"wo{joint}{preposition}", *words, head)]
    return _fronted(draft, asked, Tree("WHNP", head), head, german, german[-1])


def _which(draft: Draft, tense: Tense) -> Composition:
    """Which book did he buy? Welches Buch kaufte er?"""
    verb = draft.pick([verb for verb in verbs(Frame.TRANSITIVE) if not verb.english.preposition])
    asked = _asked(draft, verb, tense)
    noun = random_noun(draft, verb.objects)
    number = Number.PLURAL if noun.countable and draft.chance(0.25) else Number.SINGULAR
    adjectives = [draft.adjective(noun)] if draft.chance(0.3) else []
    thing = noun_phrase(
        draft, noun, Case.ACCUSATIVE, number=number, specifier=WHICH, adjectives=adjectives
    )
    thing.tree.label = "WHNP"
    return _fronted(draft, asked, thing.tree, thing.head, thing.german, thing.german_head)


def _circumstance(draft: Draft, tense: Tense) -> Composition:
    """When, why, where, how; where to with verbs of motion."""
    word = draft.pick(tuple(CIRCUMSTANCES))
    german_word = CIRCUMSTANCES[word]
    verb = draft.pick(ACTIONS)
    if word == "where":
        verb = draft.pick(verbs(Frame.LOCATIVE, Frame.DIRECTIONAL))
        if verb.frame is Frame.DIRECTIONAL:
            german_word = "wohin"
    asked = _asked(draft, verb, tense)
    if word != "where":
        complete(draft, asked, verb)
    head = English(word, "adverb")
    german = German(german_word, head)
    return _fronted(draft, asked, Tree("WHADVP", head), head, [german], german)
