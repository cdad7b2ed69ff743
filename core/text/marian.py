"""The tokenizer of Marian's models: SentencePiece for each side, ids from a vocabulary of its own.

What SentencePiece numbers is of no meaning here: pieces are looked up by their text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.errors import UserError
from core.text.segmentation import continued, encodable, read_sentencepiece
from core.text.tokenizer import Bytes
from core.text.tokens import BYTE_PIECES, Token, TokenKind
from core.text.words import written

SOURCE_TENSOR = "tokenizer.source"
TARGET_TENSOR = "tokenizer.target"
VOCABULARY_TENSOR = "tokenizer.vocabulary"
PAD, UNKNOWN, END = "<pad>", "<unk>", "</s>"
_LANGUAGE = re.compile(r">>[^<>\s]+<<")
_UNKNOWN_SURFACE = "⁇"
_UNUSED = re.compile(r"<unused \d+>")


class MarianTokenizer:
    """One side. A source tokenizer knows its ``target``; a target tokenizer is its own.

    A text may begin with one of ``languages``; it becomes that token, and the rest is cut as if
    it stood alone. A piece that the vocabulary lacks is unknown and keeps its surface.
    """

    def __init__(
        self,
        model_bytes: bytes,
        vocabulary: Mapping[str, int],
        bos_id: int,
        target: MarianTokenizer | None = None,
    ) -> None:
        """
        Args:
            model_bytes: a SentencePiece model file.
            vocabulary: id of each piece, 0, 1, 2 … in any order, ``<pad>``, ``<unk>`` and
                ``</s>`` among them.
            bos_id: what names the decoder's first input.
            target: of the other side; None for that one itself.

        Raises:
            UserError: the bytes are no model, or the vocabulary is none.
        """
        self.model_bytes = model_bytes
        self.bos_id = bos_id
        self._processor = read_sentencepiece(model_bytes)
        self._ids = dict(vocabulary)
        self.pieces = _in_order(self._ids)
        self.vocab_size = len(self.pieces)
        self.pad_id, self.unk_id, self.eos_id = (self._ids[one] for one in (PAD, UNKNOWN, END))
        self._target = target
        languages = filter(_LANGUAGE.fullmatch, self.pieces) if target else ()
        self.languages = tuple(sorted(languages))
        self.unused_ids = tuple(
            id for id, piece in enumerate(self.pieces) if _UNUSED.fullmatch(piece)
        )
        self._specials = {self.pad_id, self.eos_id, bos_id, *self.unused_ids}
        self._specials |= {self._ids[language] for language in self.languages}

    @property
    def target(self) -> MarianTokenizer:
        return self._target or self

    @property
    def identity(self) -> bytes:
        digest = hashlib.sha256()
        for name, array in sorted(self.to_tensors().items()):
            digest.update(name.encode() + len(array).to_bytes(8, "big") + array.tobytes())
        return digest.digest()

    def encode(self, text: str) -> list[int]:
        return self._encode(encodable(text))

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        return [self._encode(encodable(text)) for text in texts]

    def _encode(self, text: str) -> list[int]:
        language = self._language(text)
        pieces = self._processor.encode(text[len(language) :], out_type=str)
        if not pieces:
            return []
        first = [language] if language else []
        return [self._ids.get(piece, self.unk_id) for piece in [*first, *pieces]]

    def tokens(self, text: str) -> list[Token]:
        text = encodable(text)
        language = self._language(text)
        skipped = len(language)
        mapping = self._processor.encode_as_offset_mapping(text[skipped:])
        tokens = [
            self._found(piece, start + skipped, end + skipped)
            for piece, (start, end) in zip(mapping["pieces"], mapping["offsets"], strict=True)
        ]
        return [self._found(language, 0, skipped), *tokens] if language and tokens else tokens

    def continuation(self, text: str) -> list[Token]:
        return continued(text, self.tokens)

    def token(self, id: int) -> Token:
        return self._token(id, 0, 0, "")

    def decode(self, ids: Sequence[int]) -> str:
        # SentencePiece would leave ▁ and bytes as they are in the pieces that only the other side's
        # model knows, which a shared vocabulary has.
        return written(self._token(id, 0, 0, _UNKNOWN_SURFACE) for id in ids)

    def to_tensors(self) -> dict[str, Bytes]:
        target = self.target
        vocabulary = {"begin": target.bos_id, "source": self.pieces}
        if target.pieces != self.pieces:
            vocabulary["target"] = target.pieces
        return {
            SOURCE_TENSOR: np.frombuffer(self.model_bytes, dtype=np.uint8),
            TARGET_TENSOR: np.frombuffer(target.model_bytes, dtype=np.uint8),
            VOCABULARY_TENSOR: np.frombuffer(json.dumps(vocabulary).encode(), dtype=np.uint8),
        }

    def _language(self, text: str) -> str:
        """The language token that a text begins with, known or not, where a model has some."""
        found = _LANGUAGE.match(text) if self.languages else None
        return found[0] if found else ""

    def _found(self, piece: str, start: int, end: int) -> Token:
        id = self._ids.get(piece, self.unk_id)
        return self._token(id, start, end, piece if id == self.unk_id else "")

    def _token(self, id: int, start: int, end: int, surface: str) -> Token:
        piece = self.pieces[id]
        if id == self.unk_id:
            kind = TokenKind.UNKNOWN
        elif id in self._specials or self._processor.is_control(self._processor[piece]):
            kind = TokenKind.SPECIAL
        elif BYTE_PIECES.fullmatch(piece):
            kind = TokenKind.BYTE
        else:
            kind = TokenKind.PIECE
        return Token(piece, id, kind, start, end, surface)


def unused_piece(id: int) -> str:
    """The name of an id without a piece, which models have whose matrices are padded."""
    return f"<unused {id}>"


def marian_tokenizer(
    source: bytes,
    target: bytes,
    vocabulary: Mapping[str, int],
    target_vocabulary: Mapping[str, int] | None,
    bos_id: int,
) -> MarianTokenizer:
    """Return the tokenizer of both sides, from two SentencePiece model files and one vocabulary or
    two.

    Raises:
        UserError: as ``MarianTokenizer``.
    """
    of_target = vocabulary if target_vocabulary is None else target_vocabulary
    return MarianTokenizer(
        source, vocabulary, bos_id, target=MarianTokenizer(target, of_target, bos_id)
    )


def read_marian_tokenizer(tensors: Mapping[str, Bytes]) -> MarianTokenizer:
    """The inverse of ``MarianTokenizer.to_tensors``.

    Raises:
        UserError: the tensors are not what it writes.
    """
    try:
        source, target, text = (
            tensors[name].tobytes() for name in (SOURCE_TENSOR, TARGET_TENSOR, VOCABULARY_TENSOR)
        )
        stored = json.loads(text)
        sides = [
            {piece: id for id, piece in enumerate(stored[side])}
            for side in ("source", "target")
            if side in stored
        ]
        begin = int(stored["begin"])
    except (KeyError, ValueError, TypeError) as error:
        raise UserError(
            "The tokenizer does not belong to a Marian model; choose another file."
        ) from error
    return marian_tokenizer(source, target, sides[0], sides[1] if len(sides) > 1 else None, begin)


def _in_order(ids: Mapping[str, int]) -> list[str]:
    """The pieces by id.

    Raises:
        UserError: the ids are not 0 … n - 1, each once, or a special piece is missing.
    """
    for piece in (PAD, UNKNOWN, END):
        if piece not in ids:
            raise UserError(
                f"The vocabulary has no {piece}, so it does not belong to a Marian model."
            )
    pieces = {id: piece for piece, id in ids.items()}
    if len(pieces) < len(ids):
        piece = next(piece for piece, id in ids.items() if pieces[id] != piece)
        raise UserError(
            f"The vocabulary gives {piece!r} and {pieces[ids[piece]]!r} the same id, "
            f"{ids[piece]}; it is damaged."
        )
    missing = next((id for id in range(len(pieces)) if id not in pieces), None)
    if missing is not None:
        raise UserError(f"The vocabulary has no piece for the id {missing}; it is damaged.")
    return [pieces[id] for id in range(len(pieces))]
