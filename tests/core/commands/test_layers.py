from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from core.errors import UserError
from core.lab.report import LayersReport

Command = Callable[..., int]
SMALL = ("--width", "8", "--heads", "2", "--longest", "32", "--path-positions", "5")
ONE = ("--threads", "1")


def test_as_json(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("attention", "convolution")
    assert command("layers", *SMALL, *ONE, "--causal", "--json", "--kinds", *names) == 0
    captured = capsys.readouterr()
    report = LayersReport.from_json(captured.out)
    assert [layer.kind for layer in report.layers] == list(names)
    assert [layer.path for layer in report.layers] == [1, 2]
    said = [json.loads(line) for line in captured.err.splitlines()]
    last = [line for line in said if "done" in line][-1]
    assert last["done"] == last["total"] == 2 * 3
    parts = [line for line in said if "layers" in line]
    assert [len(part["layers"]) for part in parts] == [1, 2]


def test_as_text(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("layers", *SMALL, *ONE, "--kinds", "lstm", "longformer") == 0
    text = capsys.readouterr().out
    assert "d = 8, 2 heads, k = 3, r = 9, N = 16, both directions" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("LSTM")]
    assert rows[0][2] == "16"
    assert rows[1][-3:] == ["4", "4", "n"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--kinds", "tube"), "no layer kind “tube”"),
        (("--causal", "--kinds", "bigbird"), "BigBird has no causal form"),
        (("--width", "9"), "not divisible by 4 heads"),
        (("--longest", "8"), "--longest"),
        (("--path-positions", "1"), "--path-positions"),
    ],
)
def test_what_is_impossible_is_said(command: Command, options: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        command("layers", *ONE, *options)
