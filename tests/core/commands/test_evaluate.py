from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.dataset import DATASETS

from core.checkpoints.card import model_card
from core.checkpoints.header import read_header
from core.decoding.translate import Translation
from core.errors import UserError
from core.remote.corpora import bring, look_up
from core.remote.sacrebleu_sets import SacrebleuSet
from tests.core.remote.corpus_sites import md5, wmt_archive
from tests.core.remote.sites import Site, serving

OUTPUT = {"The dog sleeps.": "Der Hund schläft.", "The cat sleeps.": "Die Katze schläft."}
SOURCES = list(OUTPUT)

Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture
def evaluate(
    command: Callable[..., int],
    trained: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Evaluate:
    """The result of ``evaluate … --json`` for a model that has learned ``OUTPUT`` by heart."""

    def translate(_: object, __: object, texts: list[str], *___: object, **____: object) -> object:
        return [Translation(OUTPUT[text]) for text in texts]

    monkeypatch.setattr("core.decoding.translate.translate", translate)

    def run(*words: str | Path) -> dict[str, Any]:
        model = trained / "model.safetensors"
        assert command("evaluate", "--model", model, "--beam", "1", "--json", *words) == 0
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    return run


def lines(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def test_its_own_translations_score_a_hundred(tmp_path: Path, evaluate: Evaluate) -> None:
    source = lines(tmp_path / "a.en", SOURCES)
    wrong = lines(tmp_path / "wrong.de", ["Etwas ganz anderes."] * 2)
    right = lines(tmp_path / "right.de", list(OUTPUT.values()))
    result = evaluate("--source", source, "--reference", wrong, right)
    assert result["sentences"] == 2
    assert result["chrf"] == pytest.approx(100.0)
    assert result["chrf_signature"].startswith("nrefs:2|")
    assert evaluate("--source", source, "--reference", wrong)["chrf"] < 50


def test_a_repeated_source_is_one_sentence_with_several_references(
    tmp_path: Path, evaluate: Evaluate
) -> None:
    first, second = OUTPUT.values()
    rows = [(SOURCES[0], "Falsch."), (SOURCES[1], second), (SOURCES[0], first)]
    path = lines(tmp_path / "a.tsv", ["\t".join(row) for row in rows])
    result = evaluate("--corpus", path)
    assert result["sentences"] == 2
    assert result["chrf"] == pytest.approx(100.0)
    assert result["chrf_signature"].startswith("nrefs:var|")


def test_lines_stay_whole_unless_sentences_are_asked_for(
    tmp_path: Path, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = " ".join(SOURCES)
    path = lines(tmp_path / "a.tsv", [f"{whole}\t{' '.join(OUTPUT.values())}"])
    monkeypatch.setitem(OUTPUT, whole, "Etwas ganz anderes.")
    assert evaluate("--corpus", path)["chrf"] < 50
    result = evaluate("--corpus", path, "--split-sentences")
    assert result["chrf"] == pytest.approx(100.0)
    assert result["sentences"] == 1
    assert result["split_sentences"] is True


def test_generated_lines_are_not_split(command: Callable[..., int], trained: Path) -> None:
    with pytest.raises(UserError, match="leave out --split-sentences"):
        command("evaluate", "--model", trained / "model.safetensors", "--gold", "--split-sentences")


def test_a_downloaded_test_set(
    tmp_path: Path, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = wmt_archive(SOURCES, list(OUTPUT.values()))
    with serving(Site(files={"/wmt14.tgz": data})) as site:
        monkeypatch.setattr(DATASETS["wmt14"], "data", [f"{site.url}/wmt14.tgz"])
        monkeypatch.setattr(DATASETS["wmt14"], "md5", [md5(data)])
        bring(look_up(SacrebleuSet("wmt14"), "en-de", tmp_path), lambda here: None)
    result = evaluate("--test-set", "wmt14:en-de", "--cache", tmp_path)
    assert result["sentences"] == 2
    assert result["chrf"] == pytest.approx(100.0)
    assert result["bleu_signature"].startswith("nrefs:1|test:wmt14|lang:en-de|case:mixed|")
    assert "|tok:13a|" in result["bleu_signature"]
    with pytest.raises(UserError, match="transformer-viz data wmt20 en-de"):
        evaluate("--test-set", "wmt20:en-de", "--cache", tmp_path)


def test_gold(
    command: Callable[..., int], trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = trained / "model.safetensors"
    words = ("--gold", "--sentences", "20", "--pairs", "5", "--beam", "1", "--json")
    assert command("evaluate", "--model", model, *words) == 0
    printed = capsys.readouterr()
    last = json.loads(printed.err.splitlines()[-1])
    assert (last["done"], last["total"]) == (30, 30)
    result = json.loads(printed.out)
    assert result["sentences"] == 20
    assert result["pairs"] == 5
    assert 0 <= result["exact"] <= 100
    assert set(result["pronoun_decoded"]) == {"first", "second", "both"}
    assert set(result["cross_head"]) == {"layer", "head", "antecedent", "weight"}


def test_for_people(
    tmp_path: Path, trained: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    model = trained / "model.safetensors"
    source = lines(tmp_path / "a.en", SOURCES)
    command("evaluate", "--model", model, "--source", source, "--reference", source)
    assert capsys.readouterr().out.startswith("2 sentences\nBLEU ")
    command("evaluate", "--model", model, "--gold", "--sentences", "9", "--pairs", "3")
    out = capsys.readouterr().out
    assert out.startswith("9 test sentences, exact")
    assert "encoder layer 1, head " in out


def test_files_that_do_not_belong_together(tmp_path: Path, evaluate: Evaluate) -> None:
    source = lines(tmp_path / "a.en", SOURCES)
    with pytest.raises(UserError, match=r"has 2 lines but .* has 1, so they are not aligned"):
        evaluate("--source", source, "--reference", lines(tmp_path / "a.de", ["Eins."]))
    with pytest.raises(UserError, match="needs reference translations"):
        evaluate("--source", source)
    with pytest.raises(UserError, match="is empty"):
        evaluate("--source", lines(tmp_path / "empty.en", []), "--reference", source)
    with pytest.raises(UserError, match=r"missing\.en"):
        evaluate("--source", tmp_path / "missing.en", "--reference", source)


@pytest.mark.parametrize("option", ["--pairs", "--sentences"])
def test_no_gold_sentences(evaluate: Evaluate, option: str) -> None:
    with pytest.raises(UserError, match=f"{option} = 0 is not possible"):
        evaluate("--gold", option, "0")


def test_exactly_one_thing_to_evaluate(command: Callable[..., int]) -> None:
    with pytest.raises(SystemExit) as exit:
        command("evaluate", "--model", "m")
    assert exit.value.code == 2


def test_a_recorded_result_is_in_the_model_file(
    tmp_path: Path, evaluate: Evaluate, trained: Path
) -> None:
    source = lines(tmp_path / "a.en", SOURCES)
    right = lines(tmp_path / "right.de", list(OUTPUT.values()))
    result = evaluate("--source", source, "--reference", right, "--record")
    scores = read_header(trained / "model.safetensors").provenance["scores"]
    assert scores["a.en"] == result | {"beam": 1, "alpha": 0.6, "penalty": "gnmt"}


def test_in_8_bits(evaluate: Evaluate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers: list[object] = []
    monkeypatch.setattr("core.model.int8.to_int8", layers.append)
    source = lines(tmp_path / "a.en", SOURCES)
    right = lines(tmp_path / "right.de", list(OUTPUT.values()))
    files = ("--source", source, "--reference", right)
    evaluate(*files)
    assert not layers
    evaluate(*files, "--int8")
    assert [type(model).__name__ for model in layers] == ["Transformer"]


def test_scores_in_8_bits_are_not_recorded(
    tmp_path: Path, evaluate: Evaluate, trained: Path
) -> None:
    source = lines(tmp_path / "a.en", SOURCES)
    with pytest.raises(UserError, match="leave out --int8"):
        evaluate("--source", source, "--reference", source, "--int8", "--record")


@pytest.mark.parametrize("bad", [b"\xff\tkaputt\n", b"no tab\n"])
def test_a_broken_file_is_not_scored_unless_asked(
    tmp_path: Path, evaluate: Evaluate, bad: bytes
) -> None:
    path = tmp_path / "a.tsv"
    rows = zip(SOURCES, OUTPUT.values(), strict=True)
    path.write_bytes("".join(f"{one}\t{other}\n" for one, other in rows).encode() + bad)
    with pytest.raises(UserError, match=r"1 line of .* could not be read.*--partial"):
        evaluate("--corpus", path)
    assert evaluate("--corpus", path, "--partial")["sentences"] == 2


def test_validation_data_is_called_that(
    tmp_path: Path,
    command: Callable[..., int],
    small: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = lines(tmp_path / "dev.tsv", ["The dog sleeps.\tDer Hund schläft."])
    words = ("--out", tmp_path / "run", "--steps", "4", "--threads", "1", "--validation", path)
    assert command("train", "tiny", *words, "--set", *small) == 0
    capsys.readouterr()
    model = tmp_path / "run" / "model.safetensors"
    assert command("evaluate", "--model", model, "--corpus", path, "--json") == 0
    out, error = capsys.readouterr()
    assert json.loads(out)["split"] == "validation"
    assert "this is a validation score, not a test score" in error
    other = lines(tmp_path / "test.tsv", ["The dog sleeps.\tDer Hund schläft."])
    assert command("evaluate", "--model", model, "--corpus", other, "--json") == 0
    assert "split" not in json.loads(capsys.readouterr().out)


def test_how_often_the_mark_is_right(
    evaluate: Evaluate,
    command: Callable[..., int],
    trained: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    corpus = lines(
        tmp_path / "a.tsv",
        ["The dog sleeps.\tDer Hund schläft.", "The cat sleeps.\tEtwas ganz anderes."],
    )
    copy = tmp_path / "model.safetensors"
    shutil.copy(trained / copy.name, copy)
    rates = evaluate("--corpus", corpus, "--doubts")["doubts"]
    assert rates["corpus"] == "a.tsv"
    assert (rates["sentences"], rates["bad"]) == (1, 100)
    words = ("--model", copy, "--beam", "1", "--corpus", corpus, "--doubts", "--record")
    assert command("evaluate", *words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[3] == "On 1 sentence (every other one), 100% are bad: chrF below 40"
    assert said[4].startswith(f"probably wrong, {rates['threshold']:g} doubts per word or more:")
    header = read_header(copy)
    assert header.provenance["scores"]["doubts"] == rates
    assert header.left_out == ()
    assert "probably wrong, on every other sentence of a.tsv" in model_card("m", header)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--gold"], "--doubts needs references"), (["--corpus"], "two sentences or more")],
)
def test_marks_need_references_and_two_halves(
    evaluate: Evaluate, tmp_path: Path, words: list[str], said: str
) -> None:
    corpus = lines(tmp_path / "a.tsv", ["The dog sleeps.\tDer Hund schläft."])
    with pytest.raises(UserError, match=said):
        evaluate(*words, *([corpus] if "--corpus" in words else []), "--doubts")
