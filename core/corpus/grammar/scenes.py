"""Whole clauses from the lexicon: a verb, who can do it, to whom or what, when and where.

Noun phrases take relative clauses here, up to two deep.
"""

from __future__ import annotations

from functools import cache

from core.corpus.grammar.adverbials import add_adverbs, add_direction, add_place
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.entries import (
    Case,
    Frame,
    Modal,
    Number,
    SemanticClass,
    Tense,
    Verb,
)
from core.corpus.grammar.morphology import english_relative, relative_pronoun
from core.corpus.grammar.nouns import random_name, random_noun, random_noun_phrase
from core.corpus.grammar.phrases import (
    Phrase,
    comma,
    noun_phrase,
    prepositional,
    pronoun_phrase,
)
from core.corpus.grammar.predication import copula, random_modal
from core.corpus.grammar.sentence import English, German, Tree
from core.corpus.grammar.specifiers import BARE
from core.corpus.grammar.verbs import verb_group
from core.corpus.grammar.vocabulary import PERSON, noun, nouns, verbs_of, verbs_on

MAX_RELATIVES = 2


def subject_phrase(
    draft: Draft, verb: Verb, *, negated: bool = False, depth: int = 0, pronouns: bool = True
) -> Phrase:
    """A subject that ``verb`` can have; persons are names or pronouns at times."""
    classes = verb.subjects
    if SemanticClass.PERSON in classes and draft.chance(0.6):
        roll = draft.random.random()
        if roll < 0.2:
            return random_name(draft)
        if roll < 0.35 and pronouns:
            return pronoun_phrase(draft.pick(("he", "she", "they")), Case.NOMINATIVE)
        classes = PERSON
    phrase = random_noun_phrase(
        draft, random_noun(draft, classes), Case.NOMINATIVE, negated=negated
    )
    return maybe_relative(draft, phrase, depth)


def clause(
    draft: Draft,
    verb: Verb,
    *,
    tense: Tense,
    subject: Phrase | None = None,
    negated: bool = False,
    modal: Modal | None = None,
    inverted: bool = False,
    final: bool = False,
    depth: int = 0,
    bare: bool = False,
) -> Clause:
    """A clause around ``verb`` with all it takes; ``bare`` leaves out adverbs."""
    if subject is None:
        subject = subject_phrase(draft, verb, negated=negated, depth=depth)
    group = verb_group(
        draft,
        verb.english,
        verb.german,
        tense=tense,
        number=subject.number,
        modal=modal,
        negated=negated,
        inverted=inverted,
        final=final,
    )
    result = Clause(draft, subject, group)
    complete(draft, result, verb, depth=depth)
    if not bare:
        add_adverbs(draft, result, verb, tense, negated=negated)
    return result


def complete(draft: Draft, result: Clause, verb: Verb, *, depth: int = 0) -> None:
    """Add the complements that the frame of ``verb`` asks for."""
    negator = result.verb.negator
    frame = verb.frame
    pronouns = not result.subject.pronoun
    if frame is Frame.TRANSITIVE or frame is Frame.DATIVE:
        case = Case.ACCUSATIVE if frame is Frame.TRANSITIVE else Case.DATIVE
        target = object_phrase(draft, verb, case, negator, depth=depth, pronouns=pronouns)
        add_object(draft, result, verb, target)
    elif frame is Frame.DITRANSITIVE:
        person = draft.noun(nouns(SemanticClass.PERSON))
        recipient = random_noun_phrase(
            draft, person, Case.DATIVE, definite=negator is not None, plain=True
        )
        result.add_object(recipient, DependencyKind.INDIRECT_OBJECT)
        thing = object_phrase(draft, verb, Case.ACCUSATIVE, negator, depth=depth)
        add_object(draft, result, verb, thing)
    elif frame is Frame.PREPOSITIONAL:
        add_prepositional_object(draft, result, verb, depth=depth)
    elif frame is Frame.LOCATIVE:
        add_place(draft, result, verb)
    elif frame is Frame.DIRECTIONAL:
        add_direction(draft, result, verb)


def object_phrase(
    draft: Draft,
    verb: Verb,
    case: Case,
    negator: English | None,
    *,
    depth: int = 0,
    pronouns: bool = True,
) -> Phrase:
    """An object that ``verb`` can have; ``negator`` is the negated verb of the clause, if it is."""
    if SemanticClass.PERSON in verb.objects and draft.chance(0.15):
        if not pronouns or draft.chance(0.5):
            return random_name(draft)
        return pronoun_phrase(draft.pick(("he", "she", "they")), case)
    noun = random_noun(draft, verb.objects)
    negated = negator is not None
    phrase = random_noun_phrase(
        draft,
        noun,
        case,
        negated=negated,
        negator=negator if case is Case.ACCUSATIVE else None,
    )
    return maybe_relative(draft, phrase, depth)


def add_object(draft: Draft, result: Clause, verb: Verb, phrase: Phrase) -> None:
    """The object of a transitive or dative verb, after its English preposition if it has one."""
    kind = DependencyKind.INDIRECT_OBJECT if verb.frame is Frame.DATIVE else DependencyKind.OBJECT
    result.add_object(phrase, kind, preposition=verb.english.preposition)


def add_prepositional_object(draft: Draft, result: Clause, verb: Verb, *, depth: int = 0) -> Phrase:
    assert verb.german.case is not None
    noun = random_noun(draft, verb.objects)
    phrase = random_noun_phrase(
        draft, noun, verb.german.case, definite=result.verb.negator is not None
    )
    maybe_relative(draft, phrase, depth)
    tree, german = prepositional(verb.english.preposition, verb.german.preposition, phrase)
    result.add_complement(tree, german, phrase.tail)
    return phrase


def maybe_relative(draft: Draft, phrase: Phrase, depth: int) -> Phrase:
    """Return ``phrase``, sometimes with a relative clause; ``depth`` counts the clauses around it.

    After "the report of the brothers" it could belong to either noun, so it gets none.
    """
    free = phrase.noun is not None and not phrase.modified
    if free and depth < MAX_RELATIVES and draft.chance(0.07):
        add_relative(draft, phrase, depth=depth)
    return phrase


ROLES = ("subject", "subject", "object", "object", "dative", "prepositional", "genitive")
RELATIVE_FRAMES = {
    "object": (Frame.TRANSITIVE, Case.ACCUSATIVE),
    "dative": (Frame.DATIVE, Case.DATIVE),
    "prepositional": (Frame.PREPOSITIONAL, None),
}
BELONGINGS = (
    *nouns(SemanticClass.ANIMAL, SemanticClass.VEHICLE),
    *(noun(word) for word in ("brother", "sister", "son", "daughter", "friend", "colleague")),
)


@cache
def _relative_verbs(semantic: SemanticClass, role: str, by_person: bool) -> tuple[Verb, ...]:
    if role == "subject":
        return verbs_of(
            semantic, Frame.INTRANSITIVE, Frame.TRANSITIVE, Frame.DATIVE, Frame.PREPOSITIONAL
        )
    frame, _ = RELATIVE_FRAMES[role]
    return tuple(
        verb
        for verb in verbs_on(semantic, frame)
        if (frame is Frame.PREPOSITIONAL or not verb.english.preposition)
        and (not by_person or SemanticClass.PERSON in verb.subjects)
    )


def add_relative(
    draft: Draft,
    phrase: Phrase,
    *,
    role: str | None = None,
    depth: int = 0,
    nested: bool = False,
    subject: Phrase | None = None,
) -> bool:
    """Give ``phrase`` a relative clause in which its noun has ``role``; False where none fits.

    ``nested`` gives the object in it a relative clause too; ``subject`` is a person, where the
    noun is the object. The German goes into the tail of ``phrase``.
    """
    assert phrase.noun is not None
    semantic = phrase.noun.semantic
    if nested:
        verbs = verbs_of(semantic, Frame.TRANSITIVE)
    else:
        role = role or draft.pick(ROLES)
        if role == "genitive":
            return _add_genitive_relative(draft, phrase)
        verbs = _relative_verbs(semantic, role, subject is not None)
    if not verbs:
        return False
    verb = draft.pick(verbs)
    if nested or role == "subject":
        _relate_as_subject(draft, phrase, verb, depth=depth, nested=nested)
        return True
    assert role is not None
    if subject is None:
        subject = subject_phrase(draft, verb, depth=MAX_RELATIVES)
    modal = random_modal(draft, draft.tense, subject) if draft.chance(0.12) else None
    relate(draft, phrase, role, verb, subject, modal=modal)
    return True


def _relate_as_subject(
    draft: Draft, phrase: Phrase, verb: Verb, *, depth: int, nested: bool
) -> None:
    """ "who bought the car" """
    pronoun = _relative_pronoun(draft, phrase, Case.NOMINATIVE)
    group = verb_group(
        draft, verb.english, verb.german, tense=draft.tense, number=phrase.number, final=True
    )
    inner = Clause(draft, pronoun, group)
    if nested:
        noun = random_noun(draft, verb.objects)
        target = random_noun_phrase(draft, noun, Case.ACCUSATIVE, plain=True)
        add_relative(draft, target, depth=depth + 1)
        add_object(draft, inner, verb, target)
    else:
        complete(draft, inner, verb, depth=depth + 1)
    _attach(phrase, Tree("WHNP", pronoun.head), inner.english_verb_phrase(), inner.final())


def relate(
    draft: Draft,
    phrase: Phrase,
    role: str,
    verb: Verb,
    subject: Phrase,
    *,
    modal: Modal | None = None,
) -> None:
    """Return "whom the dog saw" or "for which the dog waited"; ``role`` names the frame of
    ``verb``."""
    case = verb.german.case if role == "prepositional" else RELATIVE_FRAMES[role][1]
    assert case is not None
    pronoun = _relative_pronoun(draft, phrase, case, after_preposition=role == "prepositional")
    group = verb_group(
        draft,
        verb.english,
        verb.german,
        tense=draft.tense,
        number=subject.number,
        modal=modal,
        final=True,
    )
    inner = Clause(draft, subject, group)
    if role == "prepositional":
        tree, german = prepositional(verb.english.preposition, verb.german.preposition, pronoun)
        _attach(phrase, Tree("WHPP", *tree.children), inner.english(), [*german, *inner.final()])
        return
    kind = DependencyKind.OBJECT if role == "object" else DependencyKind.INDIRECT_OBJECT
    draft.link(kind, pronoun.head, group.main)
    draft.link(kind, pronoun.german_head, group.german_main)
    german = [pronoun.german_head, *inner.final()]
    _attach(phrase, Tree("WHNP", pronoun.head), inner.english(), german)


def _add_genitive_relative(draft: Draft, phrase: Phrase) -> bool:
    """ "whose dog slept" """
    noun = phrase.noun
    if noun is None or noun.semantic is not SemanticClass.PERSON:
        return False
    whose = _relative_pronoun(draft, phrase, Case.GENITIVE)
    thing = draft.noun(BELONGINGS)
    number = Number.PLURAL if draft.chance(0.3) else Number.SINGULAR
    belonging = noun_phrase(draft, thing, Case.NOMINATIVE, number=number, specifier=BARE)
    subject = Phrase(
        Tree("WHNP", whose.head, belonging.head),
        [whose.german_head, *belonging.german],
        belonging.head,
        belonging.german_head,
        number,
        thing,
    )
    if draft.chance(0.5):
        inner = copula(draft, subject, draft.adjective(thing), tense=draft.tense, final=True)
    else:
        verb = draft.pick(verbs_of(thing.semantic, Frame.INTRANSITIVE))
        inner = clause(draft, verb, tense=draft.tense, subject=subject, final=True, bare=True)
    _attach(phrase, subject.tree, inner.english_verb_phrase(), inner.final())
    return True


def _relative_pronoun(
    draft: Draft, phrase: Phrase, case: Case, *, after_preposition: bool = False
) -> Phrase:
    noun = phrase.noun
    assert noun is not None
    person = noun.semantic is SemanticClass.PERSON
    text = english_relative(person, case)
    if text == "which" and not after_preposition:
        text = "that"
    head = English(text, "pronoun")
    german = German(relative_pronoun(case, phrase.number, noun.gender), head)
    draft.link(DependencyKind.RELATIVE, head, phrase.head)
    draft.link(DependencyKind.RELATIVE, german, phrase.german_head)
    return Phrase(Tree("NP", head), [german], head, german, phrase.number)


def _attach(phrase: Phrase, opening: Tree, rest: Tree, german: list[German]) -> None:
    if rest.label == "VP":
        rest = Tree("S", rest)
    phrase.tree = Tree("NP", phrase.tree, Tree("SBAR", opening, rest))
    phrase.tail = [comma(), *german, comma()]
