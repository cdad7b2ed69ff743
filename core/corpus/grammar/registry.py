"""All families: their weights, their builders, and one sentence of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from types import MappingProxyType

from core.corpus.grammar.draft import SPLITS, TEST, Draft
from core.corpus.grammar.families import (
    arguments,
    coordination,
    coreference,
    degree,
    order,
    plain,
    questions,
    reference,
)
from core.corpus.grammar.sentence import Composition, Sentence, finish
from core.errors import UserError

Builder = Callable[[Draft], tuple[Composition, ...]]

_FAMILIES: dict[str, tuple[float, Builder]] = {
    "coreference": (20, coreference.coreference),
    "simple": (8, plain.simple),
    "negation": (5, plain.negation),
    "perfect": (5, plain.perfect),
    "separable": (5, plain.separable),
    "modal": (5, plain.modal),
    "fronted": (5, order.fronted),
    "subordinate": (6, order.subordinate),
    "question": (6, questions.question),
    "possessive": (6, reference.possessive),
    "relative": (6, reference.relative),
    "agreement": (5, reference.agreement),
    "place": (5, arguments.place),
    "dative": (5, arguments.dative),
    "passive": (5, arguments.passive),
    "comparative": (5, degree.comparative),
    "causative": (5, degree.causative),
    "coordination": (5, coordination.coordination),
}

FAMILIES = MappingProxyType({name: weight for name, (weight, _) in _FAMILIES.items()})
"""Every family with its weight in a mixed stream."""


def build(family: str, random: Random, split: str, *, wide: bool = False) -> tuple[Sentence, ...]:
    """The sentences of one draw: two for both readings of "it", otherwise one.

    Empty where the draw led nowhere or, in the test split, to no held-out combination.
    """
    draft = Draft(random, split, wide=wide)
    return finished(_FAMILIES[family][1](draft), draft, family)


def finished(
    compositions: tuple[Composition, ...], draft: Draft, family: str
) -> tuple[Sentence, ...]:
    split = draft.split
    if split == TEST and not draft.held:
        return ()
    return tuple([finish(each, family=family, split=split) for each in compositions])


def check_families(families: Sequence[str] | None) -> list[str]:
    names = list(FAMILIES) if families is None else list(families)
    unknown = [name for name in names if name not in FAMILIES]
    if unknown or not names:
        raise UserError(
            f"unknown family {', '.join(map(repr, unknown)) or '(none)'}; "
            f"choose from {', '.join(FAMILIES)}"
        )
    return names


def check_split(split: str) -> None:
    if split not in SPLITS:
        raise UserError(f"unknown split {split!r}; choose from {', '.join(SPLITS)}")
