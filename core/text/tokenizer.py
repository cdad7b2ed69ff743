"""What the program asks of a tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.text.tokens import Token

Bytes: TypeAlias = NDArray[np.uint8]


class Tokenizer(Protocol):
    """Turns text of one side into ids and back; ``target`` is the tokenizer of translations.

    Any text goes in: one that spells ``</s>`` never becomes the special token.
    """

    @property
    def target(self) -> Tokenizer:
        """The tokenizer of translations: itself where one vocabulary and one segmentation serve
        both sides."""
        ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def pad_id(self) -> int: ...

    @property
    def unk_id(self) -> int: ...

    @property
    def bos_id(self) -> int:
        """What names the decoder's first input."""
        ...

    @property
    def eos_id(self) -> int: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The tokens such as ``>>fra<<``, with one of which a text may begin to choose the
        target."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return ids without special tokens; [] for a text without a visible character."""
        ...

    def encode_all(self, texts: Iterable[str]) -> list[list[int]]:
        """Encode many texts at once."""
        ...

    def tokens(self, text: str) -> list[Token]:
        """The same as ``encode``, with the characters each token covers."""
        ...

    def continuation(self, text: str) -> list[Token]:
        """Return the tokens of a text that goes on directly after another: a space in front starts
        a word.

        Character offsets are those in ``text``.
        """
        ...

    def token(self, id: int) -> Token:
        """Return the token of an id as the vocabulary has it, without a place in a text."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the ids; special tokens give nothing, an unknown token shows as ⁇."""
        ...

    @property
    def identity(self) -> bytes:
        """The same for two that cut every text into the same pieces and number them alike."""
        ...

    def to_tensors(self) -> dict[str, Bytes]:
        """What a model file keeps of it, for ``core.text.stored.from_tensors``."""
        ...
