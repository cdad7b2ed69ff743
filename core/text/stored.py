"""A tokenizer from what a model file keeps of it."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import UserError
from core.text import marian, sentence_pieces
from core.text.tokenizer import Bytes, Tokenizer


def from_tensors(tensors: Mapping[str, Bytes]) -> Tokenizer:
    """The inverse of ``Tokenizer.to_tensors``, of any kind.

    Raises:
        UserError: there is none, or it is damaged.
    """
    if sentence_pieces.TENSOR in tensors:
        model_bytes = tensors[sentence_pieces.TENSOR].tobytes()
        return sentence_pieces.SentencePieceTokenizer(model_bytes)
    if marian.SOURCE_TENSOR in tensors:
        return marian.read_marian_tokenizer(tensors)
    raise UserError("The file contains no tokenizer; choose another file.")
