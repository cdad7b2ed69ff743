"""The shapes of coreference sentences: main clause, conjunction, clause with "it"."""

from __future__ import annotations

from dataclasses import dataclass

from core.corpus.grammar.entries import Modal, Tense
from core.corpus.grammar.verbs import CAN, SHOULD, WANT


@dataclass(frozen=True, slots=True)
class Frame:
    """One shape of main clause and clause with "it", the reason.

    ``tense`` and ``modal`` belong to the main clause. ``conjunction`` is English and German;
    after ``coordinate`` ones the verb stays second. The reason comes first if ``fronted``; the
    main clause is a question if ``inverted``, and what somebody says if ``said``.
    """

    tense: Tense
    reason_tense: Tense
    conjunction: tuple[str, str] = ("because", "weil")
    degrees: tuple[str, ...] = ("too",)
    negated: bool = False
    modal: Modal | None = None
    passive: bool = False
    coordinate: bool = False
    fronted: bool = False
    inverted: bool = False
    said: bool = False
    conceded: bool = False


ALTHOUGH = ("although", "obwohl")
IF = ("if", "wenn")
BUT = ("but", "aber")
VERY = ("very", "quite", "extremely", "unusually")
PAST, PRESENT, PERFECT, FUTURE = Tense.PAST, Tense.PRESENT, Tense.PERFECT, Tense.FUTURE

REFUSALS = (
    Frame(PAST, PAST, negated=True),
    Frame(PRESENT, PRESENT, negated=True),
    Frame(PERFECT, PRESENT, negated=True),
    Frame(FUTURE, PRESENT, negated=True),
    Frame(PAST, PAST, negated=True, modal=CAN),
    Frame(PRESENT, PRESENT, negated=True, modal=CAN),
    Frame(PRESENT, PRESENT, negated=True, modal=SHOULD),
    Frame(PAST, PAST, negated=True, fronted=True),
    Frame(PRESENT, PRESENT, negated=True, fronted=True),
    Frame(PAST, PAST, negated=True, passive=True),
    Frame(PRESENT, PRESENT, negated=True, passive=True),
    Frame(PAST, PAST, negated=True, passive=True, modal=CAN),
    Frame(PERFECT, PRESENT, negated=True, passive=True),
    Frame(PRESENT, PRESENT, IF, negated=True),
    Frame(FUTURE, PRESENT, IF, negated=True, fronted=True),
    Frame(PAST, PAST, negated=True, inverted=True),
    Frame(PAST, PAST, negated=True, said=True),
    Frame(PAST, PAST, BUT, modal=WANT, coordinate=True),
)
"""It did not, would not or could not happen, since "it" was too …"""

CONTRASTS = (
    Frame(PAST, PAST, ALTHOUGH, VERY),
    Frame(PRESENT, PRESENT, ALTHOUGH, VERY),
    Frame(PERFECT, PRESENT, ALTHOUGH, VERY),
    Frame(FUTURE, PRESENT, ALTHOUGH, VERY),
    Frame(PAST, PAST, ALTHOUGH, VERY, modal=CAN),
    Frame(PAST, PAST, ALTHOUGH, VERY, fronted=True),
    Frame(PAST, PAST, ALTHOUGH, VERY, passive=True),
    Frame(PAST, PAST, ALTHOUGH, VERY, said=True),
    Frame(PAST, PAST, ALTHOUGH, VERY, conceded=True),
    Frame(PRESENT, PRESENT, ALTHOUGH, VERY, conceded=True),
    Frame(PAST, PAST, ALTHOUGH, VERY, conceded=True, passive=True),
)
"""It happened although "it" was very …"""

REASONS = (
    Frame(PAST, PAST, degrees=("too", "so")),
    Frame(PRESENT, PRESENT, degrees=("too", "so")),
    Frame(PERFECT, PRESENT, degrees=("too", "so")),
    Frame(FUTURE, PRESENT, degrees=("too", "so")),
    Frame(PAST, PAST, degrees=("too", "so"), fronted=True),
    Frame(PAST, PAST, degrees=("too", "so"), passive=True),
    Frame(PRESENT, PRESENT, degrees=("too", "so"), modal=SHOULD),
)
"""It happened because "it" was too …: of verbs such as avoid and reject."""
