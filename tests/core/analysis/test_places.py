from __future__ import annotations

import pytest

from core.analysis.evidence import Evidence
from core.analysis.places import Places
from core.heads import AttentionKind
from core.text.tokens import Token

SOURCE, TARGET = "It didn't rest.", "Es ruhte nicht."
E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


class Pieces:
    """As SentencePiece cuts: the space before a word is its first piece's."""

    def tokens(self, text: str) -> list[Token]:
        cuts = {
            SOURCE: ["It", " didn", "'", "t", " rest", "."],
            TARGET: ["Es", " ruh", "te", " nicht", "."],
        }[text]
        made, start = [], 0
        for place, piece in enumerate(cuts):
            name = piece.replace(" ", "▁") if place else f"▁{piece}"
            made.append(Token(name, 4 + place, start=start, end=start + len(piece)))
            start += len(piece)
        return made

    @property
    def target(self) -> Pieces:
        return self


@pytest.fixture
def places() -> Places:
    return Places(Pieces())  # type: ignore[arg-type]


def cell(query: int, key: int) -> Evidence:
    return Evidence(SOURCE, TARGET, query, key, 0.5)


def words(
    places: Places, kind: AttentionKind, query: int, key: int, reading: str = ""
) -> tuple[str | None, str | None]:
    one = cell(query, key)
    looks = SOURCE if kind is E else TARGET
    looked_at = TARGET if kind is D else SOURCE
    query_span, key_span = places.query(one, kind, reading), places.key(one, kind)
    return (
        looks[slice(*query_span)] if query_span else None,
        looked_at[slice(*key_span)] if key_span else None,
    )


def test_a_piece_stands_for_its_word_without_the_space_before(places: Places) -> None:
    assert words(places, E, 0, 2) == ("It", "didn't")
    assert words(places, E, 4, 5) == ("rest", ".")


def test_special_tokens_have_no_place(places: Places) -> None:
    assert words(places, E, 6, 6) == (None, None)
    assert words(places, D, 0, 0) == (None, None)
    assert words(places, C, 5, 6) == (None, None)


def test_a_decoder_row_is_the_token_it_is_fed_or_predicts(places: Places) -> None:
    assert words(places, D, 2, 1) == ("ruhte", "Es")
    assert words(places, D, 0, 1, "predicted") == ("Es", "Es")
    assert words(places, C, 1, 4) == ("ruhte", "rest")
    assert words(places, C, 1, 4, "fed") == ("Es", "rest")
