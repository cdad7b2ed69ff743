"""SentencePiece with one vocabulary for both languages."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

import numpy as np
import sentencepiece

from core.errors import UserError
from core.text.segmentation import continued, encodable, read_sentencepiece
from core.text.tokenizer import Bytes
from core.text.tokens import WORD_START, Token, TokenKind

TENSOR = "tokenizer"
_UNKNOWN_SURFACE = "⁇"
_CHARACTERS = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")
_LONGEST_LINE = 1_000_000  # bytes; SentencePiece leaves longer lines out without a word


class SentencePieceTokenizer:
    """One vocabulary and one segmentation for both languages; specials are ids, never strings."""

    languages: tuple[str, ...] = ()

    def __init__(self, model_bytes: bytes) -> None:
        """``model_bytes``: a SentencePiece model file.

        Raises:
            UserError: the bytes are none.
        """
        self.model_bytes = model_bytes
        self._processor = read_sentencepiece(model_bytes)
        self.vocab_size: int = self._processor.vocab_size()
        self.pad_id: int = self._processor.pad_id()
        self.unk_id: int = self._processor.unk_id()
        self.bos_id: int = self._processor.bos_id()
        self.eos_id: int = self._processor.eos_id()

    @property
    def target(self) -> SentencePieceTokenizer:
        return self

    @property
    def identity(self) -> bytes:
        return self.model_bytes

    def encode(self, text: str) -> list[int]:
        """Return ids without special tokens; [] for a text without a visible character."""
        ids: list[int] = self._processor.encode(encodable(text))
        return ids

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Encode many texts at once."""
        readable = [encodable(text) for text in texts]
        rows: list[list[int]] = self._processor.encode(readable, num_threads=1)
        return rows

    def tokens(self, text: str) -> list[Token]:
        """The same as ``encode``, with the characters each token covers."""
        mapping = self._processor.encode_as_offset_mapping(encodable(text))
        return [
            self.token(id, start, end, surface=piece)
            for id, piece, (start, end) in zip(
                mapping["ids"], mapping["pieces"], mapping["offsets"], strict=True
            )
        ]

    def continuation(self, text: str) -> list[Token]:
        """Return the tokens of a text that goes on directly after another: a space in front starts
        a word.

        Character offsets are those in ``text``.
        """
        return continued(text, self.tokens)

    def token(self, id: int, start: int = 0, end: int = 0, surface: str = "") -> Token:
        piece: str = self._processor.id_to_piece(id)
        if self._processor.is_unknown(id):
            return Token(piece, id, TokenKind.UNKNOWN, start, end, surface)
        if self._processor.is_control(id):
            kind = TokenKind.SPECIAL
        elif self._processor.is_byte(id):
            kind = TokenKind.BYTE
        else:
            kind = TokenKind.PIECE
        return Token(piece, id, kind, start, end)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the ids; special tokens give nothing, an unknown token shows as ⁇."""
        text: str = self._processor.decode(list(ids))
        return text

    def to_tensors(self) -> dict[str, Bytes]:
        return {TENSOR: np.frombuffer(self.model_bytes, dtype=np.uint8)}


def train_tokenizer(
    lines: Iterable[str], vocab_size: int, whole: Iterable[str] = ()
) -> SentencePieceTokenizer:
    """Learn a byte-pair encoding from ``lines`` of both languages.

    ``whole``: words that are one piece even where they mix letters and signs, such as ``/NP``,
    which byte-pair encoding would always divide.

    The vocabulary comes out smaller than asked where the text does not hold as many pieces;
    every character of the text is in it, after Unicode's NFKC normalisation. Ids 0–3 are pad,
    unknown, begin, end.

    Raises:
        UserError: there is no text, or the vocabulary cannot hold the text's characters.
    """
    model = io.BytesIO()
    sentences = [encodable(line) for line in lines]
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            max_sentence_length=_LONGEST_LINE,
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            user_defined_symbols=[WORD_START + word for word in whole],
            unk_surface=_UNKNOWN_SURFACE,
            minloglevel=2,
        )
    except RuntimeError as error:
        if needed := _CHARACTERS.search(str(error)):
            raise UserError(
                f"No vocabulary of {vocab_size} pieces can be learned from this text: its "
                f"characters alone need {needed.group(1)}; choose that vocabulary size or a "
                "larger one."
            ) from error
        raise UserError(
            f"No vocabulary of {vocab_size} pieces can be learned from this text; add more text "
            "or choose another vocabulary size."
        ) from error
    return SentencePieceTokenizer(model.getvalue())
