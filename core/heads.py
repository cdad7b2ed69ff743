"""The names of a model's heads, known to every room."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from core.errors import UserError


class AttentionKind(StrEnum):
    ENCODER_SELF = "encoder_self"
    DECODER_SELF = "decoder_self"
    CROSS = "cross"


class Head(NamedTuple):
    """One head of a model; layers and heads count from 0."""

    kind: AttentionKind
    layer: int
    head: int

    @property
    def code(self) -> str:
        """As commands and files write it: ``cross.3.0``."""
        return f"{self.kind.value}.{self.layer}.{self.head}"


def read_head(code: str) -> Head:
    """The head that a ``Head.code`` names.

    Raises:
        UserError: it is not of the form KIND.LAYER.HEAD.
    """
    kind, *numbers = code.split(".")
    digits = len(numbers) == 2 and all(one.isascii() and one.isdigit() for one in numbers)
    if kind not in set(AttentionKind) or not digits:
        raise UserError(
            f"{code!r} names no head; write KIND.LAYER.HEAD, counted from 0, with a kind of "
            f"{', '.join(AttentionKind)}: cross.3.0 for example."
        )
    layer, head = map(int, numbers)
    return Head(AttentionKind(kind), layer, head)


def read_gate(text: str) -> tuple[Head, float]:
    """A head and the factor on its output, of KIND.LAYER.HEAD=FACTOR; 0 where none is given.

    Raises:
        UserError: it is not of this form, or the factor is not a finite number.
    """
    code, given, factor = text.partition("=")
    head = read_head(code)
    try:
        value = float(factor) if given else 0.0
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{text!r}: {factor!r} is not a finite number; 0 switches the head off.")
    return head, value


def write_gate(head: Head, factor: float) -> str:
    """As ``read_gate`` reads it back: ``cross.3.0=0.5``."""
    return f"{head.code}={factor!r}"


def others_of_layer(head: Head, present: Iterable[int]) -> tuple[Head, ...]:
    """The heads beside this one: to leave it alone in its layer is to switch them off."""
    return tuple(head._replace(head=other) for other in present if other != head.head)
