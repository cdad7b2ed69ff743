"""Who does not do what, and why: the material of the coreference family.

A story has verbs, the classes of agent and goal, and for each of the two the adjectives that
explain the outcome. None of the goal's adjectives can be said of the agent, nor the other way
round, so the adjective tells what "it" means.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.grammar.entries import SemanticClass
from core.corpus.grammar.vocabulary import adjective

NEUTRAL = tuple(
    adjective(english)
    for english in ("black", "white", "gray", "red", "blue", "famous", "beautiful")
)
"""Adjectives before a noun that have no bearing on the reason."""


@dataclass(frozen=True, slots=True)
class Story:
    """A frame for coreference; stories with a ``place`` have a person as subject, and agent and
    goal are object and place."""

    agents: SemanticClass
    verbs: tuple[str, ...]
    goals: SemanticClass
    agent_adjectives: tuple[str, ...]
    goal_adjectives: tuple[str, ...]
    reason: bool = False
    place: bool = False


def _story(
    agents: str,
    verbs: str,
    goals: str,
    agent_adjectives: str,
    goal_adjectives: str,
    *,
    reason: bool = False,
    place: bool = False,
) -> Story:
    return Story(
        SemanticClass(agents),
        tuple(verbs.split()),
        SemanticClass(goals),
        tuple(agent_adjectives.split()),
        tuple(goal_adjectives.split()),
        reason,
        place,
    )


_WEARY = "tired sleepy lazy sick weak nervous shy young hungry thirsty"

STORIES = (
    _story(
        "animal", "cross", "way", _WEARY, "wide long steep slippery muddy narrow dark winding stony"
    ),
    _story("animal", "reach", "way", _WEARY, "steep slippery muddy narrow stony"),
    _story("animal", "cross reach", "water", _WEARY, "wide deep cold muddy"),
    _story("animal", "enter", "building", _WEARY + " fat", "dark cold narrow bright warm"),
    _story("animal", "leave", "building", _WEARY, "warm comfortable cozy"),
    _story("animal", "enter", "place", _WEARY, "dark cold hot stony"),
    _story("animal", "leave", "place", _WEARY, "warm sunny safe charming"),
    _story(
        "animal",
        "devour",
        "food",
        "tired sick sleepy nervous shy lazy",
        "hot cold sour bitter salty dry crispy",
    ),
    _story("animal", "devour", "plant", "tired nervous sleepy lazy shy", "prickly thick high"),
    _story(
        "animal", "pull push", "vehicle", "weak lazy tired sick young stupid", "heavy rusty long"
    ),
    _story("animal", "pull push", "furniture", "weak lazy tired sick young", "heavy wide wobbly"),
    _story(
        "vehicle",
        "cross",
        "way",
        "heavy slow big rusty",
        "narrow steep slippery muddy winding stony",
    ),
    _story("vehicle", "reach", "way", "slow heavy rusty", "steep slippery muddy narrow winding"),
    _story("vehicle", "cross", "water", "heavy rusty slow", "wild shallow wide"),
    _story(
        "institution",
        "accept support discuss",
        "idea",
        "conservative poor weak slow corrupt greedy",
        "complicated boring abstract absurd strange expensive difficult strict",
    ),
    _story(
        "institution",
        "support continue",
        "activity",
        "poor weak conservative corrupt greedy",
        "expensive dangerous difficult complicated long boring illegal",
    ),
    _story(
        "institution",
        "publish accept discuss",
        "document",
        "weak conservative poor slow corrupt",
        "long boring complicated confidential sad difficult",
    ),
    _story(
        "institution",
        "organize continue",
        "event",
        "poor weak slow conservative",
        "expensive long boring exhausting violent",
    ),
    _story(
        "institution",
        "buy rent",
        "vehicle",
        "poor conservative greedy weak",
        "expensive ugly rusty heavy loud",
    ),
    _story(
        "institution",
        "rent build",
        "building",
        "poor conservative greedy",
        "expensive ugly dark cold",
    ),
    _story(
        "institution",
        "buy develop",
        "device",
        "poor conservative weak",
        "expensive complicated fragile heavy loud",
    ),
    _story("weather", "destroy damage", "building", "weak mild", "modern"),
    _story("weather", "destroy damage", "vehicle", "weak mild", "robust heavy"),
    _story("weather", "destroy damage", "furniture", "weak mild", "robust heavy"),
    _story(
        "document",
        "translate sign",
        "building",
        "long difficult complicated confidential",
        "dark cold bright",
        place=True,
    ),
    _story(
        "document",
        "write discuss",
        "place",
        "long difficult complicated confidential",
        "dark cold hot",
        place=True,
    ),
    _story(
        "food",
        "eat taste",
        "building",
        "salty sour bitter greasy hot",
        "dark dirty ugly",
        place=True,
    ),
    _story("food", "eat taste", "place", "salty sour bitter sweet", "dark", place=True),
    _story(
        "clothing",
        "wash clean",
        "water",
        "expensive thick valuable",
        "cold shallow wild deep",
        place=True,
    ),
    _story(
        "device",
        "repair test",
        "building",
        "complicated fragile heavy hot",
        "dark cold narrow dirty",
        place=True,
    ),
    _story("vehicle", "repair wash", "place", "heavy rusty long", "dark cold hot", place=True),
    _story(
        "animal",
        "avoid",
        "way",
        "shy nervous careful clever intelligent",
        "steep slippery muddy wide dark",
        reason=True,
    ),
    _story("animal", "avoid", "place", "shy nervous careful tired", "dark cold hot", reason=True),
    _story(
        "animal",
        "leave",
        "building",
        "hungry thirsty lonely curious nervous",
        "cold dark narrow",
        reason=True,
    ),
    _story(
        "animal",
        "leave",
        "place",
        "hungry thirsty lonely curious nervous",
        "cold dark hot",
        reason=True,
    ),
    _story(
        "institution",
        "reject criticize ignore",
        "idea",
        "conservative powerful weak greedy corrupt",
        "complicated abstract absurd expensive strict",
        reason=True,
    ),
    _story(
        "institution",
        "reject",
        "document",
        "conservative powerful corrupt",
        "long boring complicated",
        reason=True,
    ),
    _story(
        "institution",
        "cancel postpone",
        "event",
        "poor weak conservative",
        "expensive long boring violent",
        reason=True,
    ),
    _story(
        "weather", "destroy damage", "building", "strong violent intense", "old low", reason=True
    ),
    _story(
        "weather",
        "destroy damage",
        "furniture",
        "strong violent intense",
        "old wobbly fragile",
        reason=True,
    ),
)
