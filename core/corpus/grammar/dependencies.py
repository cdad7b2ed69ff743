"""The dependencies between words that the grammar knows and annotates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    SOURCE = "source"
    TARGET = "target"


class DependencyKind(StrEnum):
    """What a word needs another one for; the comment says which word points at which."""

    COREFERENCE = "coreference"  # "it" at its antecedent
    DISTRACTOR = "distractor"  # "it" at the noun that it could have meant with another adjective
    POSSESSIVE = "possessive"  # "its" at the owner
    RELATIVE = "relative"  # relative pronoun at the noun before it
    SUBJECT_VERB = "subject_verb"  # finite verb at its subject
    OBJECT = "object"  # accusative object at its verb
    INDIRECT_OBJECT = "indirect_object"  # dative object at its verb
    ATTRIBUTE = "attribute"  # adjective at the noun that follows
    PREDICATE = "predicate"  # adjective at the subject it is said of
    PERFECT = "perfect"  # participle at "has", "hat", "ist"
    FUTURE = "future"  # infinitive at "will", "wird"
    MODAL = "modal"  # infinitive at the modal verb
    PASSIVE = "passive"  # participle at "is", "wird"
    PARTICLE = "particle"  # particle at its verb
    SUBORDINATE = "subordinate"  # finite verb at the conjunction that sends it to the end
    FRONTED = "fronted"  # finite verb at the head of what stands before it
    QUESTION = "question"  # question word at the verb that gives it its role
    TWO_WAY = "two_way"  # preposition at the verb that asks for a place or a direction
    COMPARATIVE = "comparative"  # "than" at the comparative, the second "as" at the first
    CAUSATIVE = "causative"  # "make" at its comparative
    COORDINATION = "coordination"  # later conjunct at the first
    NEGATION = "negation"  # "kein" or "nicht" at the verb


@dataclass(frozen=True, slots=True)
class Dependency:
    """A link between two words; ``start`` and ``end`` are word indices on ``side``, and the word at
    ``start`` needs the other."""

    kind: DependencyKind
    side: Side
    start: int
    end: int

    def to_dict(self) -> dict[str, str | int]:
        return {
            "kind": self.kind.value,
            "side": self.side.value,
            "from": self.start,
            "to": self.end,
        }
