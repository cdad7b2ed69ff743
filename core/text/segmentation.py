"""What all tokenizers that rest on a SentencePiece model share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import sentencepiece

from core.errors import UserError
from core.text.tokens import Token

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BARRIER = "\ue000"  # private use: no vocabulary has it, so no piece reaches across it


def read_sentencepiece(model_bytes: bytes) -> sentencepiece.SentencePieceProcessor:
    """
    Raises:
        UserError: the bytes are no SentencePiece model file.
    """
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.load_from_serialized_proto(model_bytes)
    except RuntimeError as error:
        raise UserError("The tokenizer is not a readable SentencePiece model.") from error
    return processor


def encodable(text: str) -> str:
    """Return the text with each lone surrogate as one replacement character, since UTF-8 has
    none."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def continued(text: str, tokens_of: Callable[[str], list[Token]]) -> list[Token]:
    """Return the tokens of a text that goes on directly after another, where ``tokens_of`` cuts a
    text that stands alone."""
    tokens = []
    for token in tokens_of(_BARRIER + text):
        if token.end > 1:
            surface = token.surface.removeprefix(_BARRIER)
            start = max(0, token.start - 1)
            tokens.append(replace(token, start=start, end=token.end - 1, surface=surface))
    return tokens
