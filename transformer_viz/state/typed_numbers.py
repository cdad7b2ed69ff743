"""Reading a number that somebody typed, the same way on every machine.

A decimal point and a decimal comma are both read, whatever the locale: ``0.8`` and ``0,8``. Groups
of three digits may be separated by a comma, a point, a space, an apostrophe or an underscore, by
one of them throughout: ``1,500``, ``1.500``, ``1 500``. Three rules settle what this leaves open.

- A whole number has no decimals, so that a mark before three digits separates groups.
- Elsewhere a lone point is the decimal point, as it is in every number that the window writes.
- A lone comma before three digits, ``1,500``, is taken for what the bounds allow. If they allow
  both 1.5 and 1500, it is refused, with both ways to write it.
"""

import math
import re

from core.errors import UserError

_LONGEST = 40  # characters: more than any number here needs, and few enough to repeat in a message
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_GROUPED = re.compile(
    r"(?P<whole>[+-]?[1-9][0-9]{0,2}(?P<mark>[.,' _])[0-9]{3}(?:(?P=mark)[0-9]{3})*)"
    r"(?:(?!(?P=mark))[.,](?P<decimals>[0-9]+))?"
)
_ONE_FORM = str.maketrans({"−": "-", "’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " "})


def read_whole(text: str) -> int:
    """Return the whole number that was typed.

    Raises:
        UserError: if the text is no number, or one with decimals.
    """
    typed = _clean(text)
    if _WHOLE.fullmatch(typed):
        return int(typed)
    grouped = _GROUPED.fullmatch(typed)
    if grouped and grouped["decimals"] is None:
        return int(_without_groups(grouped))
    if grouped or _DECIMAL.fullmatch(typed):
        raise UserError(f"“{typed}” is not a whole number.")
    raise UserError(f"“{typed}” is not a number.")


def read_decimal(text: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return the number that was typed.

    The bounds only decide between two readings; a number outside them is returned all the same.

    Raises:
        UserError: if the text is no finite number, or can be read in two ways.
    """
    typed = _clean(text)
    readings = _readings(typed)
    if len(readings) > 1:
        readings = [value for value in readings if low <= value <= high] or readings[:1]
    if not readings or not all(map(math.isfinite, readings)):
        raise UserError(f"“{typed}” is not a number.")
    if len(readings) > 1:
        ways = " or ".join(f"{value:.15g}" for value in readings)
        raise UserError(f"“{typed}” can be read in two ways; type {ways}.")
    return readings[0]


def _clean(text: str) -> str:
    """The text in one form. Raises UserError if nothing is left, or too much for a number."""
    typed = text.translate(_ONE_FORM).strip()
    if not typed:
        raise UserError("Type a number.")
    if len(typed) > _LONGEST:
        raise UserError(f"“{typed[: _LONGEST - 1]}…” is not a number.")
    return typed


def _readings(typed: str) -> list[float]:
    """What the text can stand for, the decimal reading first."""
    readings = []
    if _DECIMAL.fullmatch(typed):
        readings.append(float(typed.replace(",", ".")))
    grouped = _GROUPED.fullmatch(typed)
    if grouped and not (readings and grouped["mark"] == "."):
        readings.append(float(f"{_without_groups(grouped)}.{grouped['decimals'] or 0}"))
    return readings


def _without_groups(grouped: re.Match[str]) -> str:
    return grouped["whole"].replace(grouped["mark"], "")
