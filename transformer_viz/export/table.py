"""A map as text for spreadsheets and programs: CSV (RFC 4180) or TSV, UTF-8, lines end at \\n.

The first row names the keys and the first column the queries, their corner the map; masked cells
are empty. Numbers have the digits that give back the same float32.
"""

import csv
import io
from collections.abc import Sequence

import numpy as np

from core.text.tokens import Token

DELIMITERS = {"csv": ",", "tsv": "\t"}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_table(
    weights: np.ndarray,
    allowed: np.ndarray,
    queries: Sequence[Token],
    keys: Sequence[Token],
    delimiter: str = ",",
    title: str = "",
) -> str:
    """The table of a map [Q, K] with its mask [Q, K]; `title`: what it is."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow([title, *map(_name, keys)])
    for query, row, may in zip(queries, weights, allowed, strict=True):
        cells = (_number(value) if seen else "" for value, seen in zip(row, may, strict=True))
        writer.writerow([_name(query), *cells])
    return text.getvalue()


def _name(token: Token) -> str:
    """The token's text, never a formula to a spreadsheet: an apostrophe marks it as text."""
    name = token.surface or token.piece
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _number(value: np.floating) -> str:
    return np.format_float_positional(value, trim="0")
