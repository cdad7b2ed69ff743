from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from core.checkpoints.native import add_provenance, load_checkpoint, save_checkpoint
from core.cli import main
from core.commands import translate as command
from core.decoding.config import SearchConfig
from core.decoding.penalty import normalised
from core.decoding.translate import translate
from core.text.sentence_pieces import train_tokenizer
from core.trace.doubts import DOUBTFUL
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


@pytest.mark.parametrize("penalty", ["gnmt", "length", "none"])
def test_the_penalty_is_chosen_by_name(
    model: Path, penalty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    search = ["--beam", "3", "--alpha", "2", "--penalty", penalty, "--json"]
    assert main(["translate", "--model", str(model), *search, TEXTS[0]]) == 0
    found = json.loads(capsys.readouterr().out)
    length = len(found["tokens"]) + 1  # and the end token
    expected = normalised(found["log_probability"], length, 2.0, penalty)
    assert found["score"] == pytest.approx(expected)


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
    file.write_bytes("\r\n".join([*TEXTS, *odd]).encode())
    assert main(["translate", "--model", str(model), "--file", str(file)]) == 0
    found = lines(capsys)
    assert found[: len(TEXTS)] == expected(model)
    assert len(found) == len(TEXTS) + len(odd)


def test_a_file_that_is_not_utf8_is_refused_by_its_line(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.txt"
    file.write_bytes("die Straße\n".encode() + "die Straße\n".encode("latin-1"))
    assert main(["translate", "--model", str(model), "--file", str(file)]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert "line 2 is not UTF-8" in error


def test_a_line_of_the_input_that_is_not_utf8_ends_it_there(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = io.BytesIO(TEXTS[0].encode() + b"\n\nStra\xdfe\n" + TEXTS[0].encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    assert main(["translate", "--model", str(model)]) == 1
    out, error = capsys.readouterr()
    assert out == expected(model)[0] + "\n\n"
    assert "Line 3 of standard input is not UTF-8" in error


@pytest.mark.parametrize("as_file", [True, False])
def test_a_line_that_is_too_long_is_refused_and_the_limit_named(
    as_file: bool,
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = f"{TEXTS[0]}\n" + "the " * 20_000
    file = tmp_path / "in.txt"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    given = ["--file", str(file)] if as_file else []
    assert main(["translate", "--model", str(model), *given]) == 1
    out, error = capsys.readouterr()
    assert out == ("" if as_file else expected(model)[0] + "\n")
    assert "Line 2 of" in error
    assert "the limit is 1,000." in error
    assert re.search(r"--longest \d{5}", error)
    assert main(["translate", "--model", str(model), "--longest", "3", TEXTS[0]]) == 1
    assert main(["translate", "--model", str(model), "--longest", "0", TEXTS[0]]) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_shows_how_far_it_is(
    model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("the animal\n" * 5, encoding="utf-8")
    monkeypatch.setattr(command, "CHUNK", 2)
    words = ["translate", "--model", str(model), "--file", str(file)]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (said["done"], said["total"]) == (5, 5)
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    assert main(words) == 0
    assert stream.getvalue().endswith("\r\x1b[K")


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_a_pipe_is_answered_line_by_line_and_ends_at_ctrl_c(model: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "core", "translate", "--model", model],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A suite that runs in the background of a shell ignores it, and so would its children.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            for text, answer in zip(TEXTS, expected(model), strict=True):
                process.stdin.write(f"{text}\n".encode())
                process.stdin.flush()  # the pipe stays open: the answer comes all the same
                assert process.stdout.readline().decode("utf-8") == f"{answer}\n"
            time.sleep(0.5)  # it waits for a line: Python can miss a signal just before it reads
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
            assert process.stderr.read() == b""
        finally:
            process.kill()


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


SEVERAL = "the animal was tired.  Dr. Street was tired.\tThe animal!"
SENTENCES = ["the animal was tired.", "Dr. Street was tired.", "The animal!"]


def test_a_line_of_several_sentences_is_translated_one_by_one(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["translate", "--model", str(model)]
    assert main([*words, *SENTENCES]) == 0
    first, second, third = lines(capsys)
    assert main([*words, SEVERAL, SENTENCES[0]]) == 0
    assert lines(capsys) == [f"{first}  {second}\t{third}", first]
    assert main([*words, "--json", *SENTENCES]) == 0
    alone = [json.loads(line) for line in lines(capsys)]
    assert main([*words, "--json", SEVERAL]) == 0
    (line,) = lines(capsys)
    found = json.loads(line)
    assert [one["source"] for one in found["sentences"]] == SENTENCES
    assert [one["translation"] for one in found["sentences"]] == [first, second, third]
    assert found["source"] == SEVERAL
    assert found["translation"] == f"{first}  {second}\t{third}"
    assert found["tokens"] == [token for one in alone for token in one["tokens"]]
    for name in ("log_probability", "score"):
        assert found[name] == pytest.approx(sum(one[name] for one in alone), rel=1e-4)


def test_whole_lines_are_translated_as_one_sentence(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", "--model", str(model), "--whole-lines", "--json", SEVERAL]) == 0
    (line,) = lines(capsys)
    checkpoint = load_checkpoint(model)
    (whole,) = translate(checkpoint.model, checkpoint.tokenizer, [SEVERAL], SearchConfig(beam=4))
    found = json.loads(line)
    assert found["translation"] == whole.text
    assert "sentences" not in found


def test_the_longest_sentence_counts_and_not_the_line(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["translate", "--model", str(model), "--longest", "12"]
    text = "The animal was tired. " * 4
    assert main([*words, text]) == 0
    assert main([*words, "--whole-lines", text]) == 1
    assert "Line 1 of the arguments has a sentence of" in capsys.readouterr().err


def test_arguments_that_are_no_text(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As Python passes on bytes that are not UTF-8."""
    assert main(["translate", "--model", str(model), "the animal", "caf\udce9"]) == 1
    assert "Line 2 of the arguments is not valid UTF-8" in capsys.readouterr().err
    assert main(["translate", "--model", str(model), "--json", "\t"]) == 0
    assert json.loads(lines(capsys)[0])["source"] == "\t"


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


def test_what_speaks_against_a_translation_is_on_stderr(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "known.safetensors"
    shutil.copy(model, copy)
    add_provenance(copy, {"known_words": ["the"], "rare_words": {}})
    words = ["translate", "--model", str(copy)]
    text = "The moose."
    assert main([*words, text]) == 0
    alone = capsys.readouterr()
    assert alone.err.startswith("line 1: ")
    assert "“moose” was never seen in training" in alone.err
    assert main([*words, "--no-doubts", text]) == 0
    assert capsys.readouterr() == (alone.out, "")
    file = tmp_path / "a.txt"
    file.write_text(f"{text}\n\n{text}\n")
    assert main([*words, "--file", str(file)]) == 0
    assert "line" not in capsys.readouterr().err
    assert main([*words, "--file", str(file), "--doubts"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("line")]
    assert [line.split(":")[0] for line in said] == ["line 1", "line 3"]
    assert main([*words, "--json", "--doubts", text]) == 0
    (line,) = lines(capsys)
    doubts = json.loads(line)["doubts"]
    assert doubts["unsure"] == [{"word": "moose", "times": 0}]
    assert doubts["probably_wrong"] is (doubts["share"] >= DOUBTFUL)
