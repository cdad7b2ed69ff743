"""The tokens of other programs: where their words start, which are special, where they are in the
text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from core.text.tokens import WORD_START, Token, TokenKind
from core.text.words import join_pieces, word_spans

_SPECIALS = frozenset(
    {"<s>", "</s>", "<pad>", "<bos>", "<eos>", "<mask>", "<cls>", "<sep>"}
    | {"[CLS]", "[SEP]", "[PAD]", "[MASK]", "[BOS]", "[EOS]"}
)
_MORE_SPECIALS = re.compile(r"<[|｜].+[|｜]>|>>\S+<<")  # <|endoftext|>, >>fra<<
_UNKNOWNS = frozenset({"<unk>", "[UNK]"})
_BYTE = re.compile("<0x[0-9A-Fa-f]{2}>")
_BYTE_SPACE = "Ġ"  # of byte-level vocabularies, see _byte_alphabet
_END, _GOES_ON = "</w>", "@@"
_CONTINUES = "##"


def read_tokens(pieces: Sequence[str], specials: Collection[str] = ()) -> tuple[Token, ...]:
    """With SentencePiece's ▁ where words start, whichever way the pieces say it: Ġ (byte-level
    BPE, whose letters for bytes are undone), ## (WordPiece) or @@ where a word goes on, </w>
    where it ends, ▁ itself; pieces without any mark are whole words.

    Args:
        specials: the special tokens, beside those of common models.
    """
    known = {one for one in pieces if one in specials or _looks_special(one)}
    ordinary = [one for one in pieces if one not in known and one not in _UNKNOWNS]
    if any(one.startswith(WORD_START) for one in ordinary):
        marked = {one: one for one in ordinary}
    elif any(one.startswith(_BYTE_SPACE) for one in ordinary):
        marked = {one: _from_bytes(one) for one in ordinary}
    else:
        return _tokens(_words_marked(pieces, known), known)
    return _tokens([marked.get(one, one) for one in pieces], known)


def spelled(tokens: Sequence[Token]) -> str:
    """What the tokens say, without the specials."""
    text = ""
    for span in word_spans(tokens):
        word = join_pieces(tokens[span.start : span.stop])
        if word.kind is not TokenKind.SPECIAL:
            text += " " * word.starts_word + word.label.replace(WORD_START, " ")
    return text.strip()


def located(tokens: Sequence[Token], text: str) -> tuple[Token, ...]:
    """With the characters of the text that each covers.

    A token that is not written in the text as its piece is covers none, and the next one is then
    looked for from there on.
    """
    lower = text.lower()
    folds = len(lower) == len(text)  # İ and few others become two characters
    placed, end, lost = [], 0, False
    for token in tokens:
        if token.kind is TokenKind.PIECE and token.label.strip(WORD_START):
            label = token.label.lower() if folds else token.label
            start = (lower if folds else text).find(label, end)
            lost = start < 0 or not (lost or text[end:start].isspace() or start == end)
            if not lost:
                end = start + len(label)
                token = replace(token, start=start, end=end)
        else:
            lost |= token.kind in (TokenKind.UNKNOWN, TokenKind.BYTE)
        placed.append(token)
    return tuple(placed)


def _looks_special(piece: str) -> bool:
    return piece in _SPECIALS or _MORE_SPECIALS.fullmatch(piece) is not None


def _tokens(pieces: Sequence[str], specials: Collection[str]) -> tuple[Token, ...]:
    return tuple(Token(piece, kind=_kind(piece, specials)) for piece in pieces)


def _kind(piece: str, specials: Collection[str]) -> TokenKind:
    if piece in _UNKNOWNS:
        return TokenKind.UNKNOWN
    if piece in specials:
        return TokenKind.SPECIAL
    return TokenKind.BYTE if _BYTE.fullmatch(piece) else TokenKind.PIECE


def _words_marked(pieces: Sequence[str], specials: Collection[str]) -> list[str]:
    """Of pieces that say where a word goes on or ends."""
    ends = any(piece.endswith(_END) for piece in pieces)
    marked = []
    for before, piece in pairwise(["", *pieces]):
        if piece in specials or piece in _UNKNOWNS:
            marked.append(piece)
            continue
        goes_on = piece.startswith(_CONTINUES) and piece != _CONTINUES
        goes_on |= before.endswith(_GOES_ON)
        goes_on |= ends and not before.endswith(_END) and before not in ("", *specials)
        bare = piece.removeprefix(_CONTINUES) if goes_on else piece
        bare = bare.removesuffix(_END).removesuffix(_GOES_ON) or piece
        marked.append(bare if goes_on else WORD_START + bare)
    return marked


def _from_bytes(piece: str) -> str:
    """The text of a byte-level piece; where it holds a part of a character, its bytes."""
    try:
        data = bytes(_BYTES[letter] for letter in piece)
    except KeyError:  # a token that was added as it is
        return piece
    if len(data) == 1 and data[0] >= 0x80:
        return f"<0x{data[0]:02X}>"
    return data.decode("utf-8", "backslashreplace").replace(" ", WORD_START)


def _byte_alphabet() -> dict[str, int]:
    """The letters that stand for bytes in byte-level BPE (Radford et al. 2019, GPT-2): those that
    can be seen in Latin-1 for themselves, all others for the letters from U+0100 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {
        chr(0x100 + number): byte for number, byte in enumerate(others)
    }


_BYTES = _byte_alphabet()
