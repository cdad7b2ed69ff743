"""The family "coreference": which of two nouns "it" means is decided by the adjective alone.

"The animal didn't cross the street because it was too tired" (or "too wide"): German needs the
antecedent's gender, es or sie. The main clause is made once and shared by both readings.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.grammar.adverbials import POINTS_IN_TIME, adverb_words, preposition_with_object
from core.corpus.grammar.clausal import THAT_VERBS
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import TEST, Draft, nouns_held_out
from core.corpus.grammar.entries import Adverb, Case, Noun, SemanticClass, Tense
from core.corpus.grammar.entries import Frame as VerbFrame
from core.corpus.grammar.families.frames import CONTRASTS, REASONS, REFUSALS, Frame
from core.corpus.grammar.families.stories import NEUTRAL, STORIES, Story
from core.corpus.grammar.nouns import OWNED, SITED, owner_phrase, random_person, sited
from core.corpus.grammar.phrases import (
    Phrase,
    comma,
    english_comma,
    noun_phrase,
    of_phrase,
    prepositional,
    pronoun_phrase,
)
from core.corpus.grammar.predication import copula
from core.corpus.grammar.scenes import add_relative
from core.corpus.grammar.sentence import Composition, English, German, Tree
from core.corpus.grammar.verbs import SHOULD, WANT, verb_group
from core.corpus.grammar.vocabulary import (
    PERSON,
    adjective,
    adverb,
    adverbs,
    nouns,
    prepositions,
    verb,
)

WILLING = (SemanticClass.ANIMAL, SemanticClass.INSTITUTION)


def coreference(draft: Draft, *, long: bool = False) -> tuple[Composition, ...]:
    """Draft both readings of one main clause, the agent's first; none where no adjective fits.

    ``long`` asks for many words between the nouns and "it".
    """
    story = draft.pick(STORIES)
    agent, goal = _nouns(draft, story)
    return readings(draft, story, _frame(draft, story), agent, goal, long=long)


def readings(
    draft: Draft, story: Story, frame: Frame, agent: Noun, goal: Noun, *, long: bool = False
) -> tuple[Composition, ...]:
    """Draft both readings of ``story`` in the shape of ``frame``, told of these two nouns."""
    degree = adverb(draft.pick(frame.degrees))
    main = _main_clause(draft, story, frame, agent, goal, long=long)
    found = []
    for antecedent, other, adjectives in (
        (main.agent, main.goal, story.agent_adjectives),
        (main.goal, main.agent, story.goal_adjectives),
    ):
        reading = _reading(draft.fork(), frame, main, antecedent, other, adjectives, degree)
        if reading is None:
            return ()
        found.append(reading)
    return tuple(found)


@dataclass(slots=True)
class _Main:
    clause: Clause
    agent: Phrase
    goal: Phrase
    saying: Clause | None
    attributes: set[str]
    classes: set[SemanticClass]


def _nouns(draft: Draft, story: Story) -> tuple[Noun, Noun]:
    """Two nouns whose combination belongs to the split."""
    while True:
        agent = draft.pick(nouns(story.agents))
        goal = draft.pick(nouns(story.goals))
        if nouns_held_out(agent, goal) == (draft.split == TEST):
            draft.held = draft.split == TEST
            return agent, goal


def _frame(draft: Draft, story: Story) -> Frame:
    """A frame for ``story``: things without a will want nothing, people stay active."""
    if not story.reason and draft.chance(0.1):
        return REFUSALS[0]
    contrast = not story.reason and draft.chance(0.25)
    frames: tuple[Frame, ...] = REASONS if story.reason else CONTRASTS if contrast else REFUSALS
    while True:
        frame = draft.pick(frames)
        if frame.modal is WANT and not (story.place or story.agents in WILLING):
            continue
        if frame.modal is SHOULD and story.agents is SemanticClass.WEATHER:
            continue
        if not (frame.passive and story.place):
            return frame


def _main_clause(
    draft: Draft, story: Story, frame: Frame, agent_noun: Noun, goal_noun: Noun, *, long: bool
) -> _Main:
    draft.tense = frame.reason_tense
    draft.used += [agent_noun, goal_noun]
    attributes: set[str] = set()
    entry = verb(draft.pick(story.verbs), VerbFrame.TRANSITIVE)
    saying = None
    if frame.said:
        saying = _saying(draft)
    agent_case = Case.ACCUSATIVE if story.place else Case.NOMINATIVE
    goal_case = Case.DATIVE if story.place else Case.ACCUSATIVE
    if frame.passive:
        agent_case, goal_case = Case.DATIVE, Case.NOMINATIVE
    agent = _antecedent(draft, agent_noun, agent_case, attributes)
    goal = _antecedent(draft, goal_noun, goal_case, attributes)
    person = random_person(draft) if story.place else None
    if frame.passive:
        _extend(draft, agent, long=long, is_object=True)
    else:
        if person is None:
            _extend(draft, agent)
        _extend(
            draft,
            goal if person is None else agent,
            long=long,
            is_object=True,
            place_follows=story.place,
        )
    subject = person or (goal if frame.passive else agent)
    group = verb_group(
        draft,
        entry.english,
        entry.german,
        tense=frame.tense,
        number=subject.number,
        modal=frame.modal,
        negated=frame.negated,
        passive=frame.passive,
        inverted=frame.inverted,
        final=frame.said or frame.conceded,
    )
    clause = Clause(draft, subject, group)
    if frame.passive:
        clause.add_adjunct(*prepositional("by", "von", agent), agent.tail)
    else:
        target = agent if person is not None else goal
        clause.add_object(target, DependencyKind.OBJECT, preposition=entry.english.preposition)
        if person is not None:
            clause.add_adjunct(*prepositional("in", "in", goal))
    if frame.tense is not Tense.PERFECT and not clause.ends_in_relative and draft.chance(0.15):
        _add_when(draft, clause, frame.tense)
    classes = {noun.semantic for noun in draft.used} - {story.agents, story.goals} - PERSON
    return _Main(clause, agent, goal, saying, attributes, classes)


def _antecedent(draft: Draft, noun: Noun, case: Case, attributes: set[str]) -> Phrase:
    """The noun with "the", at times with an adjective that has no bearing on the reason."""
    choices = [
        entry
        for entry in NEUTRAL
        if noun.semantic in entry.classes and draft.may_combine(noun, entry)
    ]
    chosen = [draft.pick(choices)] if choices and draft.chance(0.2) else []
    for entry in chosen:
        draft.combine(noun, entry)
        attributes.add(entry.english)
    return noun_phrase(draft, noun, case, adjectives=chosen)


def _extend(
    draft: Draft,
    phrase: Phrase,
    *,
    long: bool = False,
    is_object: bool = False,
    place_follows: bool = False,
) -> None:
    """Put words between the nouns: a relative clause about a person, an owner, a site."""
    assert phrase.noun is not None
    roll = draft.random.random()
    if roll < (0.8 if long else 0.12) and not place_follows:
        person = random_person(draft, rich=long)
        add_relative(draft, phrase, role="object", subject=person)
    elif roll < 0.2 and not is_object and phrase.noun.semantic in SITED:
        sited(draft, phrase)
    elif roll < 0.25 and is_object and phrase.noun.semantic in OWNED:
        of_phrase(phrase, owner_phrase(draft))


def _saying(draft: Draft) -> Clause:
    subject = random_person(draft)
    saying = draft.pick(THAT_VERBS)
    group = verb_group(
        draft, saying.english, saying.german, tense=draft.tense, number=subject.number
    )
    return Clause(draft, subject, group)


def _add_when(draft: Draft, clause: Clause, tense: Tense) -> None:
    if tense is not Tense.PRESENT and draft.chance(0.5):
        entry = draft.pick(prepositions("time"))
        if entry.english != "since":
            clause.add_adverb(*preposition_with_object(draft, entry, Case.DATIVE))
            return
    choices = [entry for entry in adverbs("time", tense) if entry.english in POINTS_IN_TIME]
    clause.add_adverb(*adverb_words(draft.pick(choices)))


def _reading(
    draft: Draft,
    frame: Frame,
    main: _Main,
    antecedent: Phrase,
    other: Phrase,
    adjectives: tuple[str, ...],
    degree: Adverb,
) -> Composition | None:
    """The sentence in which "it" is ``antecedent``; None where no adjective says so."""
    noun = antecedent.noun
    assert noun is not None
    choices = [
        entry
        for entry in map(adjective, adjectives)
        if draft.may_combine(noun, entry)
        and not entry.classes & main.classes
        and entry.english not in main.attributes
    ]
    if not choices:
        return None
    it = pronoun_phrase("it", Case.NOMINATIVE, noun.gender)
    for kind, end in ((DependencyKind.COREFERENCE, antecedent), (DependencyKind.DISTRACTOR, other)):
        draft.link(kind, it.head, end.head)
        draft.link(kind, it.german_head, end.german_head)
    reason = copula(
        draft,
        it,
        draft.pick(choices),
        tense=frame.reason_tense,
        degree_adverb=degree,
        noun=noun,
        final=not (frame.coordinate or frame.conceded),
    )
    return Composition(
        *_joined(draft, frame, main, reason), draft.links, "?" if frame.inverted else "."
    )


def _joined(draft: Draft, frame: Frame, main: _Main, reason: Clause) -> tuple[Tree, list[German]]:
    """Main clause and reason in the order of ``frame``."""
    conjunction = English(frame.conjunction[0], "conjunction")
    german_conjunction = German(frame.conjunction[1], conjunction)
    clause = main.clause
    if frame.coordinate:
        tree = Tree("S", clause.english(), english_comma(), conjunction, reason.english())
        return tree, [*clause.second(), comma(), german_conjunction, *reason.second()]
    if frame.conceded:
        draft.link(DependencyKind.SUBORDINATE, clause.verb.finite, german_conjunction)
        subordinate = Tree("SBAR", conjunction, clause.english())
        tree = Tree("S", subordinate, english_comma(), *reason.english().children)
        return tree, reason.second([german_conjunction, *clause.final(), comma()])
    draft.link(DependencyKind.SUBORDINATE, reason.verb.finite, german_conjunction)
    subordinate = Tree("SBAR", conjunction, reason.english())
    german = [german_conjunction, *reason.final()]
    if frame.fronted:
        tree = Tree("S", subordinate, english_comma(), *clause.english().children)
        return tree, clause.second([*german, comma()])
    if frame.inverted:
        question = clause.english_question()
        return Tree(question.label, *question.children, subordinate), [
            *clause.first(),
            comma(),
            *german,
        ]
    if main.saying is not None:
        that = English("that", "conjunction")
        german_that = German("dass", that)
        inner = clause.english()
        tree = Tree(
            "S",
            main.saying.subject.tree,
            Tree(
                "VP",
                main.saying.verb.main,
                Tree("SBAR", that, Tree("S", *inner.children, subordinate)),
            ),
        )
        draft.link(DependencyKind.SUBORDINATE, clause.verb.finite, german_that)
        return tree, [
            *main.saying.second(),
            comma(),
            german_that,
            *clause.final(),
            comma(),
            *german,
        ]
    tree = Tree("S", *clause.english().children, subordinate)
    return tree, [*clause.second(), comma(), *german]
