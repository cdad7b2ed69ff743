from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.checkpoints.header import read_header
from core.commands import train
from core.errors import UserError
from core.presets import preset
from core.training.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[3]


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    return parser.parse_args([*words, "--out", "run"])


def test_a_preset_with_changes() -> None:
    words = "tiny --steps 7 --seed 3 --device cpu --set d_model=64 clip_norm=1.5 --set norm=pre"
    config = train.configuration(parsed(*words.split()))
    assert config == preset("tiny").with_settings(
        {"steps": 7, "seed": 3, "device": "cpu", "d_model": 64, "clip_norm": 1.5, "norm": "pre"}
    )


def test_a_setting_may_be_null() -> None:
    assert train.configuration(parsed("tiny", "--set", "clip_norm=null")).training.clip_norm is None


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("peak_factor=Infinity", "peak_factor = inf is not possible; allowed: a finite number"),
        ("peak_factor=1e999", "peak_factor = inf is not possible; allowed: a finite number"),
        ("seed=99999999999999999999", "seed = 9+ is not possible; allowed: a whole number of at"),
        ("vocab_size=99999999999999999999", "vocab_size = 9+ is not possible"),
        ("vocab_size=999999999", "allowed: 100,000,000 at most"),
        ("probe_points=99999999999", "allowed: 1,000 at most"),
        ("validation_pairs=99999999999", "allowed: 1,000,000 at most"),
    ],
)
def test_a_number_beyond_all_use_is_refused_before_anything_begins(
    setting: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        train.configuration(parsed("tiny", "--set", setting))


def test_files_become_absolute_and_a_name_with_a_comma_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b.tsv").touch()
    config = train.configuration(parsed("tiny", "--data", "grammar", "x.en,x.de", "a,b.tsv"))
    assert config.training.data == (
        "grammar",
        f"{tmp_path / 'x.en'},{tmp_path / 'x.de'}",
        str(tmp_path / "a,b.tsv"),
    )


def test_a_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(preset("tiny").to_dict()), encoding="utf-8")
    assert train.configuration(parsed(str(path), "--steps", "9")) == preset("tiny").with_settings(
        {"steps": 9}
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must contain"),
        ('{"model": {}}', "needs the setting 'vocab_size'|needs the section"),
    ],
)
def test_a_configuration_file_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        train.configuration(parsed(str(path)))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("huge",), "no preset 'huge'"),
        (("missing.json",), r"missing\.json does not exist; check the name"),
        (("tiny", "--set", "steps"), "KEY=VALUE"),
        (("tiny", "--set", "stepz=1"), "no setting 'stepz'"),
        (("tiny", "--steps", "0"), "steps = 0"),
    ],
)
def test_wrong_use(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        train.configuration(parsed(*words))


def test_the_command_to_type_again_names_no_folder() -> None:
    words = "demo --data grammar /data/my.tsv,/data/other.tsv --steps 5 --set d_model=64"
    assert train.command_line(parsed(*words.split())) == (
        "transformer-viz train demo --data grammar my.tsv,other.tsv --steps 5 --set d_model=64"
    )


def test_events_as_json_lines(
    tmp_path: Path,
    command: Callable[..., int],
    small: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = tmp_path / "run"
    words = ("tiny", "--out", run, "--steps", "8", "--threads", "1", "--json", "--set", *small)
    assert command("train", *words) == 0
    captured = capsys.readouterr()
    events = [json.loads(line) for line in captured.out.splitlines()]
    assert [event["event"] for event in events] == [
        "started",
        *("step", "checkpoint"),
        *("step", "validation", "checkpoint"),
        "finished",
    ]
    assert events[-1]["path"] == str(run / "model.safetensors")
    assert "Finished after 8 updates" in captured.err
    provenance = read_header(run / "model.safetensors").provenance
    assert provenance["data"] == ["grammar"]
    assert provenance["command"].startswith("transformer-viz train tiny --steps 8")


def test_a_failure_is_an_event_too(
    tmp_path: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="already contains a run"):
        command("train", "tiny", "--out", tmp_path / "run", "--json")
    event = json.loads(capsys.readouterr().out)
    assert event["event"] == "failed"
    assert "already contains a run" in event["message"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_ctrl_c_saves_the_run_and_resume_finishes_it(
    tmp_path: Path, command: Callable[..., int], small: tuple[str, ...]
) -> None:
    run = tmp_path / "run"
    script = (
        "import argparse, sys\n"
        "from core.commands import train\n"
        "if __name__ == '__main__':\n"
        "    parser = argparse.ArgumentParser()\n"
        "    train.add_arguments(parser)\n"
        "    sys.exit(train.run(parser.parse_args()))\n"
    )
    (tmp_path / "child.py").write_text(script, encoding="utf-8")
    child = subprocess.Popen(
        [
            *(sys.executable, str(tmp_path / "child.py"), "tiny", "--out", str(run), "--json"),
            *("--steps", "100000", "--threads", "1", "--set", *small, "validate_every=100000"),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["event"] == "checkpoint":
            child.send_signal(signal.SIGINT)
            break
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    last = json.loads(output.splitlines()[-1])
    assert last["event"] == "interrupted"
    assert f"Stopped after update {last['step']:,}; the state is saved" in errors
    assert f"transformer-viz resume {run}" in errors
    assert "Traceback" not in errors
    assert command("resume", run, "--steps", str(last["step"] + 2)) == 0
    assert RunFolder.open(run).checkpoints()[-1].stem == f"step-{last['step'] + 2:06}"
