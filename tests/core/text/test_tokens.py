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
