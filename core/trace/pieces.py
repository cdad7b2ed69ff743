"""The tokens of other programs: where their words start, which are special, where they are in the
text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from core.text.tokens import BYTE_PIECES, WORD_START, Token, TokenKind
from core.text.words import written
from core.trace.byte_level import SPACE, are_byte_level, from_byte_level

_SPECIALS = frozenset(
    {"<s>", "</s>", "<pad>", "<bos>", "<eos>", "<mask>", "<cls>", "<sep>"}
    | {"[CLS]", "[SEP]", "[PAD]", "[MASK]", "[BOS]", "[EOS]"}
)
_MORE_SPECIALS = re.compile(r"<[|｜].+[|｜]>|>>\S+<<")  # <|endoftext|>, >>fra<<
_UNKNOWNS = frozenset({"<unk>", "[UNK]"})
_END, _GOES_ON, _CONTINUES = "</w>", "@@", "##"
_CONTINUED = re.compile(rf"{_CONTINUES}\w")
WORD_MARKS = (WORD_START, SPACE, _CONTINUES, _GOES_ON, _END)
"""How pieces say where words are: ▁ (SentencePiece) or Ġ (byte-level BPE) where one starts, ##
(WordPiece) or @@ where one goes on, </w> where one ends."""


def word_mark(pieces: Sequence[str], specials: Collection[str] = ()) -> str:
    """The one of ``WORD_MARKS`` that the pieces show; "" where they show none."""
    ordinary = _ordinary(pieces, specials)
    if any(one.startswith(WORD_START) or BYTE_PIECES.fullmatch(one) for one in ordinary):
        return WORD_START
    if any(_CONTINUED.match(one) for one in ordinary):
        return _CONTINUES
    if any(one.endswith(_END) for one in ordinary):
        return _END
    if are_byte_level(ordinary):
        return SPACE
    return _GOES_ON if any(one.endswith(_GOES_ON) for one in ordinary) else ""


def read_tokens(
    pieces: Sequence[str], specials: Collection[str] = (), mark: str = ""
) -> tuple[Token, ...]:
    """Read pieces as tokens with SentencePiece's ▁ where words start, whichever way the pieces say
    it.

    The letters of byte-level pieces become text, and a part of a character its bytes, as in
    ``<0xE2><0x80>``. Pieces without any mark are whole words.

    Args:
        specials: the special tokens, beside those of common models.
        mark: one of ``WORD_MARKS``; without it the pieces tell.
    """
    known = {one for one in pieces if one in specials or _looks_special(one)}
    mark = mark or word_mark(pieces, specials)
    if mark == _END and are_byte_level(
        [one.removesuffix(_END) for one in _ordinary(pieces, specials)]
    ):  # as CLIP has them
        pieces = [one if one in known or one in _UNKNOWNS else _ended(one) for one in pieces]
    if mark == SPACE:
        ordinary = set(_ordinary(pieces, specials))
        pieces = [from_byte_level(one) if one in ordinary else one for one in pieces]
    elif mark != WORD_START:
        pieces = _words_marked(pieces, known)
    return tuple(Token(piece, kind=_kind(piece, known)) for piece in pieces)


def located(tokens: Sequence[Token], text: str) -> tuple[Token, ...]:
    """Return tokens with the characters of the text that each covers; tokens that share a character
    all cover it.

    A token that is not written in the text as its piece is covers none, and the next one is then
    looked for from there on.
    """
    lower = text.lower()
    folds = len(lower) == len(text)  # İ and few others become two characters
    placed: list[Token] = []
    end, lost = 0, False
    for is_byte, run in groupby(tokens, lambda token: token.kind is TokenKind.BYTE):
        for group in [list(run)] if is_byte else [[token] for token in run]:
            label = written(group) if is_byte else group[0].label
            if not is_byte and group[0].kind is not TokenKind.PIECE:
                lost |= group[0].kind is TokenKind.UNKNOWN
            elif label.strip(WORD_START):
                start = (lower if folds else text).find(label.lower() if folds else label, end)
                lost = start < 0 or not (lost or text[end:start].isspace() or start == end)
                if not lost:
                    end = start + len(label)
                    group = _sharing(group, text[start:end], start)
            placed += group
    return tuple(placed)


def without_gaps(tokens: Sequence[Token], text: str) -> tuple[Token, ...]:
    """Join tokens whose pieces have no mark into the words of the text that they spell.

    A piece that follows the one before without a gap continues its word: "un", "bel", "iev", "able"
    in a text with "unbelievable". Byte-level pieces of plain ASCII say it in no other way.
    """
    joined: list[Token] = []
    end = 0
    for token in located(tokens, text):
        if token.end > token.start == end > 0:
            token = replace(token, piece=token.piece.removeprefix(WORD_START))
        end = token.end
        joined.append(token)
    return tuple(joined)


def _sharing(tokens: Sequence[Token], text: str, start: int) -> list[Token]:
    """The tokens that spell a stretch of the text, each with the characters that it is part of."""
    if len(tokens) == 1:
        return [replace(tokens[0], start=start, end=start + len(text))]
    characters = [start + n for n, letter in enumerate(text) for _ in letter.encode()]
    placed: list[Token] = []
    byte = 0
    for token in tokens:
        size = len(token.data.lstrip(b" ") if not placed else token.data)
        covered = characters[byte : byte + size]
        byte += size
        placed.append(replace(token, start=covered[0], end=covered[-1] + 1) if covered else token)
    return placed


def _ordinary(pieces: Sequence[str], specials: Collection[str]) -> list[str]:
    return [
        one
        for one in pieces
        if one not in specials and one not in _UNKNOWNS and not _looks_special(one)
    ]


def _looks_special(piece: str) -> bool:
    return piece in _SPECIALS or _MORE_SPECIALS.fullmatch(piece) is not None


def _kind(piece: str, specials: Collection[str]) -> TokenKind:
    if piece in _UNKNOWNS:
        return TokenKind.UNKNOWN
    if piece in specials:
        return TokenKind.SPECIAL
    return TokenKind.BYTE if BYTE_PIECES.search(piece) else TokenKind.PIECE


def _ended(piece: str) -> str:
    """A byte-level piece that says where its word ends."""
    return from_byte_level(piece.removesuffix(_END)) + _END * piece.endswith(_END)


def _words_marked(pieces: Sequence[str], specials: Collection[str]) -> list[str]:
    """Of pieces that say where a word goes on or ends."""
    ends = any(piece.endswith(_END) for piece in pieces)
    marked = []
    for before, piece in pairwise(["", *pieces]):
        if piece in _UNKNOWNS or piece in specials:
            marked.append(piece)
            continue
        goes_on = piece.startswith(_CONTINUES) and piece != _CONTINUES
        goes_on |= before.endswith(_GOES_ON)
        goes_on |= ends and not before.endswith(_END) and before not in ("", *specials)
        bare = piece.removeprefix(_CONTINUES) if goes_on else piece
        bare = bare.removesuffix(_END).removesuffix(_GOES_ON) or piece
        marked.append(bare if goes_on else WORD_START + bare)
    return marked
