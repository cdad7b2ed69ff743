"""Which verbs go with which places, directions, manners and company."""

from __future__ import annotations

from functools import cache

from core.corpus.grammar.entries import Adverb, Preposition, SemanticClass, Verb
from core.corpus.grammar.vocabulary import adverb, preposition

HERE = ("here", "there", "outside", "upstairs", "nearby", "everywhere")
AT_HOME = (*HERE, "at home", "abroad")

BY_GROUND = "building place"
SITES = {
    "live": {
        "in": BY_GROUND,
        "near": "building water place",
        "opposite": "building",
        "behind": "building",
        "next to": "building",
    },
    "stay": {
        "in": BY_GROUND,
        "near": "building place water",
        "at": "institution",
        "behind": "building",
        "next to": "person animal building",
        "on": "way",
    },
    "sit": {
        "in": BY_GROUND,
        "on": "furniture way",
        "behind": "building plant",
        "next to": "person animal plant",
        "under": "furniture plant",
        "in front of": "building",
    },
    "stand": {
        "in": BY_GROUND,
        "on": "way",
        "behind": "building vehicle plant furniture",
        "in front of": "building vehicle",
        "next to": "person animal building plant furniture",
        "along": "way water",
        "opposite": "building",
        "near": "building water",
    },
    "lie": {
        "in": BY_GROUND,
        "on": "furniture way",
        "behind": "furniture plant building",
        "under": "furniture plant",
        "next to": "person animal furniture device tool plant",
    },
    "rest": {
        "in": BY_GROUND,
        "on": "furniture",
        "under": "plant",
        "behind": "building",
        "near": "water building",
    },
}
"""Where one lives, sits and so on: prepositions with the classes of their nouns."""

ROUTES = {
    "go": {
        "into": BY_GROUND,
        "to": "person building water way",
        "out of": BY_GROUND,
        "through": BY_GROUND,
        "around": "building water",
        "behind": "building vehicle",
        "in front of": "building",
    },
    "run": {
        "into": BY_GROUND,
        "onto": "way",
        "out of": BY_GROUND,
        "through": BY_GROUND,
        "around": "building water plant",
        "behind": "building vehicle plant",
        "under": "plant furniture",
        "to": "person building way",
    },
    "jump": {
        "into": "water",
        "onto": "furniture way",
        "behind": "furniture plant",
        "under": "furniture",
        "next to": "person animal",
        "out of": "water",
    },
    "climb": {
        "into": "building",
        "onto": "furniture",
        "out of": "building",
        "under": "furniture",
        "behind": "furniture",
    },
    "drive": {
        "into": "place",
        "onto": "way",
        "through": "place",
        "around": "water place",
        "to": "building water",
        "behind": "building",
        "in front of": "building",
        "next to": "vehicle building",
        "out of": "place",
    },
    "travel": {"into": "place", "through": "place", "around": "water", "to": "person"},
    "hurry": {
        "into": BY_GROUND,
        "to": "person building way",
        "out of": BY_GROUND,
        "through": BY_GROUND,
        "onto": "way",
    },
    "crawl": {
        "into": BY_GROUND,
        "onto": "furniture way",
        "under": "furniture plant",
        "behind": "furniture plant building",
        "out of": "building water",
        "through": BY_GROUND,
        "next to": "person animal plant",
        "around": "plant",
    },
    "return": {"into": BY_GROUND, "to": "person building water way"},
}
"""Where one goes, jumps and so on."""

MANNERS = {
    "quickly": (
        "cross enter leave open close lock clean wash eat drink repair write sign translate hide "
        "paint run climb drive crawl return jump wake-up tidy-up pick-up take-off reply disappear"
    ),
    "slowly": (
        "cross enter leave open close eat drink climb drive crawl return go pull push turn grow "
        "burn take-off get-up fall-asleep dance"
    ),
    "quietly": "enter leave open close sing cry laugh speak-to sit crawl",
    "loudly": "sing cry laugh complain-about laugh-at snore",
    "carefully": (
        "cross enter open close lock clean wash repair examine test feed translate climb drive "
        "pull push tidy-up examine"
    ),
    "suddenly": (
        "leave open disappear stop arrive explode fall collapse die fall-asleep come-back run-away"
    ),
    "secretly": "leave enter open sell buy steal watch follow meet hide visit love admire",
    "patiently": "wait-for listen-to explain repair feed work-on",
    "politely": "reply-to thank greet invite congratulate contradict ask-about",
    "alone": "live sit sleep travel work dance eat",
    "hastily": "leave eat drink sign open run",
    "calmly": "reply-to sleep wait-for explain breathe",
    "nervously": "laugh smile wait-for tremble",
    "bravely": "fight-against protect save follow",
    "easily": "cross reach open find lift push pull understand",
}
"""The verbs that each manner adverb suits, in base form with their particle or preposition."""

COMPANY = {
    "with": "travel dance work sing go run arrive return come-back work-on",
    "without": "travel dance work sing go arrive return come-back leave",
    "for": "buy repair write order translate prepare clean organize build paint work",
    "from": "buy rent steal",
}
"""The verbs that go with "with", "for" and "from" a person."""


def key(verb: Verb) -> str:
    """Return base form, particle and preposition: "cry", "wake-up", "wait-for"."""
    english = verb.english
    return "-".join(filter(None, (english.base, english.particle, english.preposition)))


@cache
def manners(verb_key: str) -> tuple[Adverb, ...]:
    return tuple(adverb(manner) for manner, verbs in MANNERS.items() if verb_key in verbs.split())


@cache
def company(verb_key: str) -> tuple[Preposition, ...]:
    return tuple(preposition(word) for word, verbs in COMPANY.items() if verb_key in verbs.split())


@cache
def sites(base: str) -> tuple[tuple[Preposition, frozenset[SemanticClass]], ...]:
    return _with_classes(SITES[base])


@cache
def routes(base: str) -> tuple[tuple[Preposition, frozenset[SemanticClass]], ...]:
    return _with_classes(ROUTES[base])


def _with_classes(
    table: dict[str, str],
) -> tuple[tuple[Preposition, frozenset[SemanticClass]], ...]:
    return tuple(
        (preposition(english), frozenset(map(SemanticClass, classes.split())))
        for english, classes in table.items()
    )
