"""The numbers of the By hand view: examples, reading and refusing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.errors import UserError
from transformer_viz.by_hand.sheet import EXAMPLES, Sheet, read_number, read_sheet

PENCIL, SCALING, BANK = EXAMPLES.values()


def test_the_example_for_a_pencil() -> None:
    (row,) = PENCIL.rows()
    np.testing.assert_allclose(row.weights, [0.284, 0.576, 0.140], atol=5e-4)
    np.testing.assert_allclose(row.output, [0.56, 1.29], atol=5e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_it_is_torch_s_scaled_dot_product_attention(causal: bool) -> None:
    sheet = replace(SCALING, causal=causal)
    q, k, v = (torch.from_numpy(sheet.part(part))[None] for part in "qkv")
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)[0]
    np.testing.assert_allclose([row.output for row in sheet.rows()], expected, atol=1e-12)


def test_scaling_makes_four_tokens_a_bit_less_certain() -> None:
    assert SCALING.width == 8
    before = [row.entropy for row in replace(SCALING, scaled=False).rows()]
    assert np.mean(before) == pytest.approx(0.65, abs=0.05)
    assert np.mean([row.entropy for row in SCALING.rows()]) == pytest.approx(1.65, abs=0.05)


def test_the_bank_looks_for_the_river() -> None:
    assert BANK.width == 2
    assert BANK.asking_names == ("bank",)
    assert BANK.names[int(BANK.rows()[0].weights.argmax())] == "river"


@pytest.mark.parametrize("sheet", EXAMPLES.values(), ids=EXAMPLES)
def test_a_sheet_comes_back_from_its_text(sheet: Sheet) -> None:
    read = read_sheet(replace(sheet, scaled=False, causal=True).to_tsv())
    assert (read.names, read.asking) == (sheet.names, sheet.asking)
    assert (read.scaled, read.causal) == (False, True)
    for part in "qkv":
        np.testing.assert_array_equal(read.part(part), sheet.part(part))


@pytest.mark.parametrize(
    ("typed", "value"), [("0.5", 0.5), (" -1,25 ", -1.25), ("−3", -3), ("1e3", 1000)]
)
def test_a_number_is_read_with_either_mark(typed: str, value: float) -> None:
    assert read_number(typed) == value


@pytest.mark.parametrize("typed", ["", "one", "nan", "inf", "1e9", "1.2.3"])
def test_what_is_no_number_is_refused(typed: str) -> None:
    with pytest.raises(UserError, match=r"is not a number|is too large"):
        read_number(typed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "Line 1 should begin with q, k or v"),
        ("q\ta\t1\nk\ta\t1\nv\ta\t1", "A sheet has 2 to 6 keys, not 1"),
        ("q\ta\t1\nk\ta\t1\nk\tb\t1\nv\ta\t1\nv\tc\t1", "need the same tokens"),
        ("q\tz\t1\nk\ta\t1\nk\tb\t1\nv\ta\t1\nv\tb\t1", "Each query needs a token"),
        ("q\ta\t1\t2\nk\ta\t1\nk\tb\t1\nv\ta\t1\nv\tb\t1", "the same number of dimensions"),
        ("q\ta\tx", "'x' is not a number"),
        ("x" * 200_000, "too long"),
    ],
)
def test_what_is_no_sheet_is_named(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_sheet(text)


def test_another_size_keeps_what_fits() -> None:
    larger = PENCIL.resized(4, 3)
    assert larger.names == ("a", "b", "c", "token 4")
    assert larger.asking == (0, 1, 2, 3)
    np.testing.assert_array_equal(larger.keys[:3, :2], PENCIL.keys)
    np.testing.assert_array_equal(larger.queries[0], [0, 1, 0])
    assert not larger.keys[3].any()
    np.testing.assert_array_equal(larger.resized(3, 2).keys, PENCIL.keys)
