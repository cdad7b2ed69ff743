"""Every command in the README and the documents is run, as a reader would type it.

Names in capitals stand for something of the reader's own, and are made here first; any other file
would have to be there. What takes long is run with smaller numbers; what needs the network, a
window or a process that is running is only parsed.
"""

from __future__ import annotations

import glob
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import cli
from core.corpus.grammar.generate import generate
from core.lessons.library import find_lesson
from core.parsing.gold import gold_tree
from tests.core.checkpoints.marian_folders import save_marian_folder
from transformer_viz.startup import launch

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ONLY_PARSED = ("get", "data", "resume", "pause", "stop", "words", "estimate", "prepare")
"""The last two would take a model of full size, and corpora of gigabytes; `variations --run` would
train two dozen models."""
SMALL = (
    *("d_model=16", "vocab_size=200", "encoder_layers=1", "decoder_layers=1", "encoder_heads=2"),
    *("decoder_heads=2", "encoder_d_ff=16", "decoder_d_ff=16", "grammar_pairs=60", "warmup=1"),
    *("validation_pairs=6", "probe_points=0", "log_every=2"),
)
CPU = ("--device", "cpu", "--precision", "fp32", "--threads", "1")
SMALLER = {
    "train": ("--steps", "2", *CPU),
    "evaluate": ("--sentences", "2", "--pairs", "2"),
    "heads": ("--sentences", "8"),
    "distance": ("--sentences", "4"),
    "ablate": ("--sentences", "4"),
    "layers": ("--longest", "32", "--path-positions", "4", "--threads", "1", "--kinds", "lstm"),
    "parse": ("--sentences", "5", "--beam", "2"),
}
MADE = ("--model", "made/model.safetensors")


def commands(document: Path) -> Iterator[tuple[str, bool]]:
    """Commands of the program without their comments, and whether each is a line of its own."""
    text = document.read_text(encoding="utf-8")
    for command in re.findall(r"^(?: {4})?(transformer-viz (?:.*\\\n)*.*)$", text, re.MULTILINE):
        yield re.split(r" {2,}", re.sub(r"\s*\\\n\s*", " ", command))[0], True
    for command in re.findall(r"`(transformer-viz [^`]+)`", text):
        yield " ".join(command.split()), False


RUNNABLE = sorted({command for path in DOCUMENTS for command, line in commands(path) if line})
INLINE = {command for path in DOCUMENTS for command, line in commands(path) if not line}
RUNNABLE += sorted(one for one in INLINE - set(RUNNABLE) if len(one.split()) > 2)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the capitals stand for."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "resources").symlink_to(ROOT / "resources", target_is_directory=True)
    (folder / "prepared").mkdir()  # by the command before
    write_pairs(folder / "prepared" / "everyday", seed=9)
    (folder / "TOK").mkdir()
    for seed, name in enumerate(("TRAIN", "DEV", "TEST", "TEST2")):
        write_pairs(folder / name, seed)
    for seed, name in enumerate(("train", "val", "test_2016_flickr")):
        write_pairs(folder / "TOK" / f"{name}.lc.norm.tok", seed)
    save_marian_folder(folder / "FOLDER")
    (folder / "LESSON.md").write_text("---\ntitle: Mine\n---\nMy own.\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = ["train", "tiny", "--out", "made", "--steps", "5", *CPU, "--set", *SMALL]
        assert cli.main([*made, "checkpoint_every=1", "keep_checkpoints=5"]) == 0
        made[3] = "parser"
        assert cli.main([*made, "task=parsing"]) == 0
    for name in ("TRAIN.mrg", "TEST.mrg"):
        trees = [str(gold_tree(one)) for one in generate(60, seed=len(name))]
        (folder / name).write_text("\n".join(trees), encoding="utf-8")
    return folder


def write_pairs(stem: Path, seed: int) -> None:
    """Sentences in two aligned files and in one of both."""
    pairs = [(one.source, one.target) for one in generate(400, seed=seed)]
    for suffix, lines in (
        ("en", [source for source, _target in pairs]),
        ("de", [target for _source, target in pairs]),
        ("tsv", ["\t".join(pair) for pair in pairs]),
    ):
        stem.with_name(f"{stem.name}.{suffix}").write_text("\n".join(lines), encoding="utf-8")


def words_of(command: str) -> list[str]:
    """Its arguments, with what is made here for what is the reader's."""
    words = shlex.split(re.sub(r"[\[\]…]", "", command))[1:]
    words = [found for word in words for found in sorted(glob.glob(word)) or [word]]
    stands_for = {
        **{"MODEL": "made/model.safetensors", "M": "made/model.safetensors", "PATH": "FOLDER"},
        **{"PARSER": "parser/model.safetensors"},
        **{"PRESET": "base", "SEED": "2", "RUN/model.safetensors": "made/model.safetensors"},
    }
    if words[0] == "average":
        stands_for["RUN"] = "made"
    if words[0] == "lesson":
        stands_for |= {"FILE": "LESSON.md", "NAME": "it"}
    return [stands_for.get(word, word) for word in words]


def made_smaller(words: list[str]) -> list[str]:
    if words[0] == "train":
        if "--set" not in words:
            words = [*words, "--set"]
        at = words.index("--set") + 1
        while at < len(words) and not words[at].startswith("--"):
            at += 1
        words = [*words[:at], *SMALL, *words[at:]]
    if words[:1] == ["ablate"] and "--each" in words:  # of a hundred heads, one after the other
        each = words.index("--each")
        words = [*words[:each], *words[each + 1 :]] if "--head" in words else [*words, *MADE]
    return [*words, *SMALLER.get(words[0], ())]


@pytest.mark.parametrize("command", RUNNABLE)
def test_a_documented_command_runs(
    command: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for one in place.iterdir():
        (tmp_path / one.name).symlink_to(one, target_is_directory=one.is_dir())
    words = words_of(command)
    if words[0] == "lesson" and words[1] not in ("list", "check"):
        assert find_lesson(words[1]).suffix == ".md"  # which the window opens like any file
        return
    if words[0] in launch.COMMANDS:
        cli.command_parser(words, launch.KNOWN).parse_args(
            words
        )  # as it stands, before it is made smaller
    if words[0] not in launch.COMMANDS:
        opens_a_window(words)
    elif words[0] in ONLY_PARSED or {"--test-set", "--run"} & {*words}:
        return
    else:
        assert cli.main(made_smaller(words), launch.KNOWN) == 0


def opens_a_window(words: list[str]) -> None:
    if "--screenshot" in words:
        command = [sys.executable, str(ROOT / "main.py"), *words]
        subprocess.run(command, check=True, timeout=150)
        assert Path(words[words.index("--screenshot") + 1]).exists()
    elif "--help" in words:
        with pytest.raises(SystemExit, match="0"):
            launch.main(words)
    else:
        launch._parse(words)


def test_a_command_that_is_mentioned_exists() -> None:
    mentioned = {command.split()[1] for command in INLINE} - set(launch.COMMANDS)
    assert {name for name in mentioned if name.islower() and not name.startswith("-")} == set()


def test_what_make_and_python_are_told_to_run_exists() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    lines = r"^(?: {4})?make ([a-z]+)(?= {2}|$| [A-Z]+=)"
    told = {*re.findall(lines, text, re.MULTILINE), *re.findall(r"`make ([a-z]+)`", text)}
    assert told
    assert told <= targets
    benchmarks = re.findall(r'ONLY="([^"]+)"', text)
    benchmarks += re.findall(r"-m tests\.benchmarks ([a-z_ ]+)`", text)
    for name in " ".join(benchmarks).split():
        assert (ROOT / "tests" / "benchmarks" / f"bench_{name}.py").exists(), name
    for script in re.findall(r"python ([\w./]+\.py)", text):
        assert (ROOT / script).exists(), script
    for module in re.findall(r"python -m ((?:core|tests)[\w.]*)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
