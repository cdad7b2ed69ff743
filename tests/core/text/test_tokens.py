from __future__ import annotations

import pytest

from core.text.tokens import Token, TokenKind


@pytest.mark.parametrize(
    ("token", "label"),
    [
        (Token("▁animal"), "animal"),
        (Token("ired"), "ired"),
        (Token("▁"), "▁"),
        (Token("</s>", kind=TokenKind.SPECIAL), "</s>"),
        (Token("<0xE2>", kind=TokenKind.BYTE), "<0xE2>"),
        (Token("▁<0xE2><0x80>", kind=TokenKind.BYTE), "<0xE2><0x80>"),
        (Token("<unk>", kind=TokenKind.UNKNOWN, surface="駅"), "駅"),
        (Token("<unk>", kind=TokenKind.UNKNOWN), "<unk>"),
    ],
)
def test_label(token: Token, label: str) -> None:
    assert token.label == label


def test_words_start_at_the_mark_and_specials_stand_alone() -> None:
    assert Token("▁a").starts_word
    assert Token("</s>", kind=TokenKind.SPECIAL).starts_word
    assert not Token("a").starts_word


@pytest.mark.parametrize(
    ("token", "data"),
    [
        (Token("▁müde"), " müde".encode()),
        (Token("▁<0xE2><0x80>", kind=TokenKind.BYTE), b" \xe2\x80"),
        (Token("a<0xE2>b", kind=TokenKind.BYTE), b"a\xe2b"),
        (Token("<0xE2>"), b"<0xE2>"),
        (Token("<unk>", kind=TokenKind.UNKNOWN, surface="▁駅"), " 駅".encode()),
        (Token("<unk>", kind=TokenKind.UNKNOWN), b"<unk>"),
    ],
)
def test_data_is_what_a_token_contributes_to_the_text(token: Token, data: bytes) -> None:
    assert token.data == data
