"""The names of a model's heads, known to every room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

from core.errors import UserError

EVEN: Final = "even"
"""The gate of a head that attends evenly: its weights are the uniform average over all keys that
the mask lets it see."""

Gate: TypeAlias = float | Literal["even"]
"""What is done to a head: a factor on its output, where 1 is on and 0 is off, or ``EVEN``."""

_SELF = "_self"
_MOST_DIGITS = 6


class AttentionKind(StrEnum):
    ENCODER_SELF = "encoder_self"
    DECODER_SELF = "decoder_self"
    CROSS = "cross"

    @property
    def stem(self) -> str:
        """The first part of a head's name: encoder, decoder or cross."""
        return self.value.removesuffix(_SELF)


class Head(NamedTuple):
    """One head of a model; layers and heads count from 0, as indices of arrays do."""

    kind: AttentionKind
    layer: int
    head: int

    @property
    def name(self) -> str:
        """The head's name in commands and tables, counted from 1: ``cross:4.1``."""
        return f"{self.kind.stem}:{self.layer + 1}.{self.head + 1}"

    @property
    def code(self) -> str:
        """The head's name in files and JSON, counted from 0: ``cross.3.0``."""
        return f"{self.kind.value}.{self.layer}.{self.head}"


def read_head(text: str) -> Head:
    """The head that a ``Head.name`` or a ``Head.code`` names; the colon tells them apart.

    A kind of self-attention may be written in full before the colon, too.

    Raises:
        UserError: it is neither.
    """
    kind, colon, numbers = text.partition(":")
    if not colon:
        try:
            return read_code(text)
        except UserError:
            raise _no_head(text) from None
    kind = f"{kind}{_SELF}" if f"{kind}{_SELF}" in set(AttentionKind) else kind
    found = _head(kind, numbers.split("."))
    if found is None or 0 in found[1:]:
        raise _no_head(text)
    return Head(found.kind, found.layer - 1, found.head - 1)


def read_code(code: str) -> Head:
    """The head that a ``Head.code`` names, as files hold it.

    Raises:
        UserError: it is not of the form KIND.LAYER.HEAD.
    """
    kind, *numbers = code.split(".")
    found = _head(kind, numbers)
    if found is None:
        raise UserError(
            f"{code!r} is not the code of a head; such a code is KIND.LAYER.HEAD, counted from 0, "
            "as in cross.3.0."
        )
    return found


def _head(kind: str, numbers: Sequence[str]) -> Head | None:
    digits = len(numbers) == 2 and all(
        one.isascii() and one.isdigit() and len(one) <= _MOST_DIGITS for one in numbers
    )
    if kind not in set(AttentionKind) or not digits:
        return None
    layer, head = map(int, numbers)
    return Head(AttentionKind(kind), layer, head)


def _no_head(text: str) -> UserError:
    return UserError(
        f"{text!r} names no head; write encoder:LAYER.HEAD, decoder:LAYER.HEAD or "
        "cross:LAYER.HEAD, counted from 1, as in cross:4.1."
    )


def read_gate(text: str) -> tuple[Head, Gate]:
    """Read a head and its gate from HEAD=FACTOR or HEAD=even; the factor is 0 if none is given.

    Raises:
        UserError: the head is not one, or the factor is neither a finite number nor ``even``.
    """
    name, given, factor = text.partition("=")
    head = read_head(name)
    if factor == EVEN:
        return head, EVEN
    try:
        value = float(factor) if given else 0.0
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(
            f"{text!r}: {factor!r} is neither a finite number nor “even”; 0 switches the head off."
        )
    return head, value


def write_gate(head: Head, gate: Gate) -> str:
    """Format a gate as files keep it and ``read_gate`` reads it: ``cross.3.0=0.5``."""
    return f"{head.code}={gate}"


def gate_name(gate: Gate) -> str:
    """Format a gate for a table: ``× 0.5`` or ``even``."""
    return gate if gate == EVEN else f"× {gate:g}"


def others_of_layer(head: Head, present: Iterable[int]) -> tuple[Head, ...]:
    """The heads beside this one: to leave it alone in its layer is to switch them off."""
    return tuple(head._replace(head=other) for other in present if other != head.head)
