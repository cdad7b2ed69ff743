import subprocess
import sys
from pathlib import Path

import pytest

from transformer_viz.startup import launch
from transformer_viz.startup.launch import Options

ROOT = Path(__file__).resolve().parents[3]


def test_options_of_the_window(tmp_path: Path) -> None:
    arguments = ["m.safetensors", "--text", "Hi.", "--size", "800x600", "--theme", "dark"]
    assert launch._parse(arguments) == Options(
        files=(Path("m.safetensors"),), text="Hi.", size=(800, 600), theme="dark"
    )
    assert launch._parse([]) == Options()


@pytest.mark.parametrize("size", ["800", "800x", "x600", "-8x600", "99x600", "800x99999", "8²x6"])
def test_a_wrong_size_is_wrong_use(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        launch._parse([f"--size={size}"])
    assert left.value.code == 2
    assert size in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["--help", "--version", "--size=0x0"])
def test_answers_without_qt_and_torch(argument: str) -> None:
    """The interpreter itself lists what it imported."""
    script = (
        "import sys\n"
        "from transformer_viz.startup.launch import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"
        "    print('loaded:', *sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, argument],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    loaded = set(done.stdout.rpartition("loaded:")[2].split())
    assert "transformer_viz" in loaded
    assert not loaded & {"PySide6", "torch", "numpy", "pyqtgraph"}


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        launch.main(["--help"])
    assert left.value.code == 0
    printed = capsys.readouterr().out
    for command in launch.COMMANDS:
        assert f"\n  {command} " in printed


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nosuch", "no command, file or bundled model 'nosuch'; `transformer-viz --help` lists"),
        ("tranlate", "no command, file or bundled model 'tranlate'; did you mean 'translate'?"),
        ("demo-en-fr", "did you mean 'demo-en-de'?"),
        ("missing/model.npz", "model.npz does not exist; check the name."),
    ],
)
def test_a_wrong_name_is_said_before_displays_are_spoken_of(
    name: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "transformer_viz.startup.preflight.problem", lambda **_options: "no display"
    )
    assert launch.main([str(Path(name))]) == 2
    printed = capsys.readouterr().err.replace("\\", "/")
    assert said in printed
    assert "display" not in printed


def test_a_mistyped_command_opens_no_window(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer_viz.startup.preflight.problem", lambda **_options: None)
    assert launch.main(["tranlate"]) == 2
    assert "did you mean 'translate'?" in capsys.readouterr().err


def test_a_lesson_is_opened_as_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr(launch, "_open", lambda arguments: opened.append(arguments) or 0)
    assert launch.main(["lesson", "it", "--theme", "dark"]) == 0
    ((file, *options),) = opened
    assert file.endswith("-it.md")
    assert options == ["--theme", "dark"]


def test_a_lesson_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch.main(["lesson", "nonsuch"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("transformer-viz lesson: There is no lesson 'nonsuch'; the course has: ")
