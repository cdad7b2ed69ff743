from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.checkpoints.native import load_checkpoint, save_checkpoint
from core.cli import main
from core.commands import translate as command
from core.decoding.config import SearchConfig
from core.decoding.translate import translate
from core.text.sentence_pieces import train_tokenizer
from tests.core.model.small import small_transformer

ROOT = Path(__file__).resolve().parent.parent.parent.parent
TEXTS = ["the animal was tired", "", "die Straße", "駅 </s>"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = train_tokenizer(["das Tier war müde", "the animal was tired", "die Straße"], 60)
    path = tmp_path_factory.mktemp("model") / "small.safetensors"
    save_checkpoint(path, small_transformer(vocab_size=tokenizer.vocab_size), tokenizer, {})
    return path


def expected(model: Path, **settings: float) -> list[str]:
    checkpoint = load_checkpoint(model)
    config = SearchConfig(**{"beam": 4} | settings)  # type: ignore[arg-type]
    found = translate(checkpoint.model, checkpoint.tokenizer, TEXTS, config)
    return [translation.text for translation in found]


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    text = capsys.readouterr().out
    assert text.endswith("\n")
    return text.removesuffix("\n").split("\n")


def test_a_line_for_each_text(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "--model", str(model), *TEXTS]) == 0
    found = lines(capsys)
    assert found == expected(model)
    assert found[1] == ""


def test_the_search_can_be_chosen(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--beam", "2", "--alpha", "3"]
    assert main(["translate", "--model", str(model), *options, *TEXTS]) == 0
    assert lines(capsys) == expected(model, beam=2, alpha=3.0)


def test_in_8_bits(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = []
    for words in ([], ["--int8"]):
        assert main(["translate", "--model", str(model), "--json", *words, TEXTS[0]]) == 0
        scores.append(json.loads(lines(capsys)[0])["score"])
    assert scores[0] != scores[1]
    assert scores[0] == pytest.approx(scores[1], rel=0.2)


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_a_line_for_each_line_of_a_file(
    chunk: int,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "CHUNK", chunk)
    file = tmp_path / "in.txt"
    odd = ["a\u2028b\x0bc", "\ufeff"]  # line ends to str.splitlines and to some editors
    file.write_bytes("\r\n".join([*TEXTS, *odd]).encode() + b"\n\xff\xfe not UTF-8")
    assert main(["translate", "--model", str(model), "--file", str(file)]) == 0
    found = lines(capsys)
    assert found[: len(TEXTS)] == expected(model)
    assert len(found) == len(TEXTS) + len(odd) + 1


def test_the_lines_of_standard_input(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = io.TextIOWrapper(io.BytesIO("\n".join(TEXTS).encode()), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", data)
    assert main(["translate", "--model", str(model)]) == 0
    assert lines(capsys) == expected(model)


def test_json_lines(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "--model", str(model), "--json", *TEXTS]) == 0
    objects = [json.loads(line) for line in lines(capsys)]
    assert [one["source"] for one in objects] == TEXTS
    assert [one["translation"] for one in objects] == expected(model)
    assert objects[1] == {
        "source": "",
        "translation": "",
        "log_probability": 0.0,
        "score": 0.0,
        "tokens": [],
    }
    assert all(one["score"] < 0 for one in objects if one["tokens"])


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes on POSIX only")
def test_arguments_and_lines_that_are_no_text(model: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "core", "translate", "--json", "--model", model, b"caf\xe9", "\t"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    objects = [json.loads(line) for line in run.stdout.decode("utf-8").splitlines()]
    assert [one["source"] for one in objects] == ["caf\udce9", "\t"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--model", "nowhere.safetensors", "x"], "nowhere.safetensors"),
        (["--beam", "0", "x"], "beam = 0"),
        (["--file", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], named: str, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", "--model", str(model), *arguments]) == 1
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1


def test_sentences_and_a_file_are_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["translate", "--file", "some.txt", "x"])
    assert exit_.value.code == 2
    assert "not allowed with" in capsys.readouterr().err
