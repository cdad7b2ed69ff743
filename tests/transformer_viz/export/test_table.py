import csv
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import Token, TokenKind
from transformer_viz.export.table import DELIMITERS, MARK, Dialect
from transformer_viz.export.table import to_table as to_bytes


def to_table(*arguments: Any, **named: Any) -> str:
    """Without a mark, as text."""
    return to_bytes(*arguments, **named).decode("utf-8", "surrogatepass")


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1)


def read(table: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table, newline=""), delimiter=delimiter))


def test_the_table_of_a_small_map() -> None:
    weights = np.array([[1, 0], [0.25, 0.75]], np.float32)
    tokens = (Token("▁a"), Token("b"))
    table = to_table(weights, np.tril(np.ones((2, 2), bool)), tokens, tokens)
    assert table == ",▁a,b\n▁a,1.0,\nb,0.25,0.75\n"


@pytest.mark.parametrize("name", DELIMITERS)
@given(names=st.lists(text, min_size=1, max_size=5), seed=st.integers(0, 99))
def test_any_tokens_and_weights_come_back_exactly(name: str, names: list[str], seed: int) -> None:
    delimiter = DELIMITERS[name]
    tokens = [Token(piece) for piece in names]
    rng = np.random.default_rng(seed)
    weights = (rng.random((len(names), len(names))) ** 9).astype(np.float32)
    allowed = rng.random(weights.shape) < 0.7
    header, *rows = read(to_table(weights, allowed, tokens, tokens, delimiter), delimiter)
    assert [cell.removeprefix("'") for cell in header[1:]] == [n.removeprefix("'") for n in names]
    for line, row in enumerate(rows):
        for column, cell in enumerate(row[1:]):
            if allowed[line, column]:
                assert np.float32(cell) == weights[line, column]
            else:
                assert cell == ""


@pytest.mark.parametrize("piece", ["=1+1", "+", "-", "@SUM(A1)", "\tx"])
def test_no_token_is_a_formula(piece: str) -> None:
    one = np.ones((1, 1), np.float32)
    header, row = read(to_table(one, one > 0, [Token(piece)], [Token(piece)]), ",")
    assert header == ["", f"'{piece}"]
    assert row == [f"'{piece}", "1.0"]


def test_an_unknown_token_is_named_as_it_was_typed() -> None:
    one = np.ones((1, 1), np.float32)
    unknown = Token("<unk>", kind=TokenKind.UNKNOWN, surface="駅")
    assert to_table(one, one > 0, [unknown], [unknown]).startswith(",駅\n駅,")


def test_excel_is_told_the_encoding() -> None:
    """Else it reads ü and ▁ as UTF-8's bytes, each a character."""
    one, token = np.ones((1, 1), np.float32), [Token("▁für")]
    table = to_bytes(one, one > 0, token, token, dialect=Dialect.EXCEL)
    assert table.startswith(b"\xef\xbb\xbf")
    assert table.removeprefix(MARK) == to_bytes(one, one > 0, token, token)
    assert table.decode("utf-8-sig") == ",▁für\n▁für,1.0\n"


def test_a_decimal_comma_has_semicolons_between_the_cells() -> None:
    weights, tokens = np.array([[0.25, 0.75]], np.float32), [Token("a"), Token("b,c")]
    comma = to_bytes(weights, weights > 0, tokens[:1], tokens, dialect=Dialect.COMMA)
    assert comma.decode("utf-8-sig") == ";a;b,c\na;0,25;0,75\n"
    tabs = to_bytes(weights, weights > 0, tokens[:1], tokens, "\t", dialect=Dialect.COMMA)
    assert tabs.decode("utf-8-sig") == "\ta\tb,c\na\t0,25\t0,75\n"
