"""A map as text for spreadsheets and programs: CSV (RFC 4180) or TSV, UTF-8, lines end at \\n.

Excel takes a file without a byte order mark for one in the system's old encoding, so that ü and ▁
break. Where its language has a decimal comma, it splits lines at semicolons.

The first row names the keys and the first column the queries, their corner the map; masked cells
are empty. Numbers have the digits that give back the same float32.
"""

import csv
import io
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from core.text.tokens import Token

MARK = "\ufeff".encode()


class Dialect(StrEnum):
    """The program that a table is written for."""

    EXCEL = "Excel and other spreadsheets"
    COMMA = "Excel with a decimal comma"
    PROGRAMS = "programs"


DELIMITERS = {"csv": ",", "tsv": "\t"}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_table(
    weights: np.ndarray,
    allowed: np.ndarray,
    queries: Sequence[Token],
    keys: Sequence[Token],
    delimiter: str = ",",
    title: str = "",
    dialect: Dialect = Dialect.PROGRAMS,
) -> bytes:
    """Return the table of a map [Q, K] with its mask [Q, K]; `title` says what it is."""
    comma = dialect is Dialect.COMMA
    if comma and delimiter == ",":
        delimiter = ";"
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow([title, *map(_name, keys)])
    for query, row, may in zip(queries, weights, allowed, strict=True):
        cells = (
            _number(value, comma=comma) if seen else ""
            for value, seen in zip(row, may, strict=True)
        )
        writer.writerow([_name(query), *cells])
    mark = b"" if dialect is Dialect.PROGRAMS else MARK
    return mark + text.getvalue().encode("utf-8", "surrogatepass")


def _name(token: Token) -> str:
    """The token's text, never a formula to a spreadsheet: an apostrophe marks it as text."""
    name = token.surface or token.piece
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _number(value: np.floating, *, comma: bool) -> str:
    text = np.format_float_positional(value, trim="0")
    return text.replace(".", ",") if comma else text
