"""One clause in both languages: constituents by role, put in order at the end.

English is built in its own order. German keeps its constituents in fields (before the verb,
middle field, right bracket, after the bracket), which every clause type orders in its way.
"""

from __future__ import annotations

from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import Draft
from core.corpus.grammar.phrases import Phrase
from core.corpus.grammar.sentence import English, German, Tree
from core.corpus.grammar.verbs import VerbGroup


class Clause:
    """A subject, its verb group and what is added to them.

    The middle field runs: pronouns, adverbs, objects, adjuncts, manner, complements; with
    "nicht": pronouns, objects, adverbs, adjuncts, nicht, manner, complements. The relative clause
    of the last object moves behind the right bracket, unless a complement stands between.
    """

    __slots__ = (
        "_adjuncts",
        "_adverbs",
        "_complements",
        "_manner",
        "_objects",
        "_pronouns",
        "_tail",
        "draft",
        "ends_in_relative",
        "english_adverb",
        "english_after",
        "nicht",
        "subject",
        "verb",
    )

    def __init__(self, draft: Draft, subject: Phrase, verb: VerbGroup) -> None:
        self.draft = draft
        self.subject = subject
        self.verb = verb
        self.english_after: list[Tree | English] = [verb.particle] if verb.particle else []
        self.english_adverb: Tree | None = None
        self._pronouns: list[German] = []
        self._adverbs: list[German] = []
        self._objects: list[German] = []
        self._adjuncts: list[German] = []
        self._manner: list[German] = []
        self._complements: list[German] = []
        self._tail: list[German] = []
        self.ends_in_relative = False
        self.nicht: German | None = None
        draft.link(DependencyKind.SUBJECT_VERB, verb.english_finite, subject.head)
        draft.link(DependencyKind.SUBJECT_VERB, verb.finite, subject.german_head)
        if verb.negator is not None:
            self.nicht = German("nicht", verb.negator)
            if verb.negator is not verb.main:
                draft.link(DependencyKind.NEGATION, verb.negator, verb.main)

    def add_object(self, phrase: Phrase, kind: DependencyKind, *, preposition: str = "") -> None:
        """An object without preposition, at least in German; "kein" in it replaces "nicht"."""
        tree = phrase.tree
        if preposition:
            words = [English(text, "preposition") for text in preposition.split(" ")]
            tree = Tree("PP", *words, tree)
        if phrase.pronoun and not preposition:  # "woke it up"
            self.english_after.insert(0, tree)
        else:
            self.english_after.append(tree)
        self.draft.link(kind, phrase.head, self.verb.main)
        self.draft.link(kind, phrase.german_head, self.verb.german_main)
        if phrase.pronoun:
            self._pronouns += phrase.german
            return
        if phrase.kein is not None:
            self.nicht = None
            self.draft.link(DependencyKind.NEGATION, phrase.kein, self.verb.finite)
        self._objects += self._tail + phrase.german
        self._tail = phrase.tail
        self.ends_in_relative = bool(phrase.tail)

    def add_complement(self, tree: Tree, german: list[German], tail: list[German]) -> None:
        """A prepositional object, place, direction or predicate: what follows "nicht"."""
        self.english_after.append(tree)
        (self._complements or self._objects).extend(self._tail)
        self._complements += german
        self._tail = tail
        self.ends_in_relative = bool(tail)

    def add_adjunct(
        self, tree: Tree, german: list[German], tail: list[German] | None = None
    ) -> None:
        """An agent or a place that precedes "nicht"."""
        self.english_after.append(tree)
        self._objects += self._tail
        self._adjuncts += german
        self._tail = tail or []
        self.ends_in_relative = bool(tail)

    def add_manner(self, tree: Tree, german: list[German]) -> None:
        """How: after "nicht", before the complements."""
        self.english_after.append(tree)
        self._manner += german

    def add_adverb(self, tree: Tree, german: list[German]) -> None:
        """A time adverb, last in English, before the objects in German."""
        self.english_after.append(tree)
        self._adverbs += german

    def add_mid_adverb(self, tree: Tree, german: list[German]) -> None:
        """An adverb between the auxiliary and the main verb."""
        self.english_adverb = tree
        self._adverbs += german

    def english_verb_phrase(self, *, without_finite: bool = False) -> Tree:
        """The VP; in a question without the finite verb, which precedes the subject."""
        verb = self.verb
        adverb = [] if self.english_adverb is None else [self.english_adverb]
        if not verb.auxiliaries:
            main = [] if without_finite else [verb.main]
            return Tree("VP", *adverb, *main, *self.english_after)
        tree = Tree("VP", verb.main, *self.english_after)
        finite, *others = verb.auxiliaries
        for auxiliary in reversed(others):
            tree = Tree("VP", auxiliary, tree)
        if without_finite:
            return Tree("VP", *adverb, *tree.children)
        if any(word.text == "to" for word in others):  # "often had to see", but "has often seen"
            return Tree("VP", *adverb, finite, tree)
        return Tree("VP", finite, *adverb, tree)

    def english(self) -> Tree:
        return Tree("S", self.subject.tree, self.english_verb_phrase())

    def english_question(self) -> Tree:
        return Tree(
            "SQ",
            self.verb.english_finite,
            self.subject.tree,
            self.english_verb_phrase(without_finite=True),
        )

    def _middle(self) -> list[German]:
        after = [*self._manner, *self._complements]
        if self.nicht is None:
            before = [*self._pronouns, *self._adverbs, *self._objects, *self._adjuncts]
            return [*before, *after]
        self.draft.link(DependencyKind.NEGATION, self.nicht, self.verb.finite)
        before = [*self._pronouns, *self._objects, *self._adverbs, *self._adjuncts]
        return [*before, self.nicht, *after]

    def _rest(self) -> list[German]:
        return [*self._middle(), *self.verb.bracket, *self._tail]

    def second(self, front: list[German] | None = None) -> list[German]:
        """A main clause, the finite verb second; ``front`` pushes the subject behind the verb."""
        subject = [*self.subject.german, *self.subject.tail]
        if front is None:
            return [*subject, self.verb.finite, *self._rest()]
        return [*front, self.verb.finite, *subject, *self._rest()]

    def without_subject(self) -> list[German]:
        """A second verb phrase of the subject before it."""
        return [self.verb.finite, *self._rest()]

    def first(self) -> list[German]:
        """A yes/no question, the finite verb first."""
        return self.second([])

    def final(self) -> list[German]:
        """A subordinate clause after its conjunction: the finite verb last."""
        subject = [*self.subject.german, *self.subject.tail]
        return [*subject, *self._middle(), *self.verb.bracket, self.verb.finite, *self._tail]
