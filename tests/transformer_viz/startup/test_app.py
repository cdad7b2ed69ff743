"""The application as a user starts it: a process, from its arguments to its exit code."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.transformer_viz.models import save_tiny_model

ROOT = Path(__file__).resolve().parents[3]
TEXT = "The animal slept."


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny.safetensors")


def environment(**changes: str) -> dict[str, str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | changes


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The application without any display."""
    return subprocess.run(
        [sys.executable, "main.py", *map(str, arguments)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


def png_size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_a_screenshot_is_the_window_with_a_result(tiny: Path, tmp_path: Path) -> None:
    from PySide6.QtGui import QImage

    picture = tmp_path / "window.png"
    done = run(tiny, "--text", TEXT, "--screenshot", picture, "--size", "900x640")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert png_size(picture) == (900, 640)
    image = QImage(str(picture))
    colors = {image.pixel(x, y) for x in range(0, 900, 3) for y in range(0, 640, 3)}
    assert len(colors) > 30, "no map has been drawn"


def test_a_screenshot_without_a_usable_model_fails_in_one_sentence(tmp_path: Path) -> None:
    picture = tmp_path / "window.png"
    done = run(tmp_path / "missing.safetensors", "--text", TEXT, "--screenshot", picture)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "missing.safetensors does not exist" in done.stderr
    assert not picture.exists()


def test_a_picture_that_cannot_be_written_fails_in_one_sentence(tiny: Path, tmp_path: Path) -> None:
    done = run(tiny, "--text", TEXT, "--screenshot", tmp_path / "no" / "window.png")
    assert done.returncode == 1
    assert "Could not write" in done.stderr
    older = tmp_path / "window.png"
    older.write_text("older")
    older.chmod(0o600)
    assert run(tiny, "--text", TEXT, "--screenshot", older).returncode == 0
    png_size(older)
    assert older.stat().st_mode & 0o777 == 0o600  # as every file that is written here


def test_a_screenshot_leaves_the_settings_alone(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "settings"
    picture = tmp_path / "window.png"
    arguments = (tiny, "--text", TEXT, "--screenshot", picture)
    before = environment(XDG_CONFIG_HOME=str(folder), HOME=str(folder))
    subprocess.run(
        [sys.executable, "main.py", *map(str, arguments)],
        cwd=ROOT,
        env=before,
        timeout=120,
        check=True,
    )
    assert not folder.exists()


def run_watched(watch: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The application with statements that run once `window` is shown, before it loads."""
    script = (
        "import os, signal, sys\n"
        "from transformer_viz.startup import app, launch\n"
        "start = app._start\n"
        "def watched(window, *rest):\n"
        f"    {watch}\n"
        "    start(window, *rest)\n"
        "app._start = watched\n"
        "sys.exit(launch.main(sys.argv[1:]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        env=environment(QT_QPA_PLATFORM="offscreen"),
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_window_is_visible_before_torch_is_imported(tiny: Path, tmp_path: Path) -> None:
    watch = "print(window.isVisible(), 'torch' in sys.modules)"
    done = run_watched(watch, tiny, "--screenshot", tmp_path / "window.png")
    assert done.stdout == "True False\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "watch",
    [
        "os.kill(os.getpid(), signal.SIGINT)",
        "window._session.statusChanged.connect(lambda _: os.kill(os.getpid(), signal.SIGINT))",
        "window._session.traceChanged.connect(lambda _: os.kill(os.getpid(), signal.SIGINT))",
        "transfers = window._controller.transfers; "
        "transfers.save('a', lambda progress: [progress(0, 1) for _ in iter(int, 1)], print); "
        "window.close(); os.kill(os.getpid(), signal.SIGINT)",
    ],
    ids=["before loading", "while the engine loads", "at rest", "while it asks"],
)
def test_ctrl_c_closes_the_window_and_saves(tiny: Path, tmp_path: Path, watch: str) -> None:
    done = run_watched(watch, tiny, "--text", TEXT, "--config-dir", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "settings.json").exists()


def stored_trace(path: Path) -> Path:
    """A trace file of a program of one's own."""
    import numpy as np

    maps = np.full((2, 2, 3, 3), 1 / 3, np.float32)
    np.savez(path, source_tokens=np.array(["a", "b", "c"]), encoder_self=maps)
    return path


@pytest.mark.parametrize("late", [False, True], ids=["the model is last", "the trace is last"])
def test_a_screenshot_waits_for_the_model_and_the_trace(tmp_path: Path, late: bool) -> None:
    delay = (
        "import time; from transformer_viz.shell import documents; read = documents.load_npz; "
        "documents.load_npz = lambda path: ("
        "[time.sleep(0.01) for _ in iter(lambda: window._session.trace is None, False)], "
        "time.sleep(0.5), read(path))[-1]; "
    )
    watch = (
        "grab = window.grab; window.grab = lambda: (print(window._session.status.message, "
        "window._session.model is not None), grab())[1]"
    )
    path, picture = stored_trace(tmp_path / "own.npz"), tmp_path / "window.png"
    done = run_watched(delay * late + watch, path, "--screenshot", picture)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "trace from own.npz True\n"


def on_settled(*statements: str) -> str:
    """Run these when the window shows a result, then close it as from outside."""
    done = ", ".join([*statements, "os.kill(os.getpid(), signal.SIGINT)"])
    return f"window._controller.settled.connect(lambda _: ({done}))"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_last_session_comes_back_at_the_next_start(tiny: Path, tmp_path: Path) -> None:
    first = on_settled(
        "window._session.select(kind='cross', layer=2, head=3, query=1)",
        "window._session.change_options(merge_words=True)",
        "window._session.set_gates({window._session.selection.primary: 0.5})",
        "window.show_view('scores')",
        "window._controller.comparison.choose_text('It slept.')",
    ).replace("'cross'", "list(window._session.trace.kinds)[2]")
    done = run_watched(first, tiny, "--text", TEXT, "--config-dir", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Started: Python" in (tmp_path / "transformer-viz.log").read_text(encoding="utf-8")
    again = on_settled(
        "print(window.source.text(), window._session.model.name, window._session.selection.primary,"
        " window._session.selection.query, window.stage.current,"
        " window._session.options.merge_words, window.history.can_undo,"
        " window._controller.comparison.text, list(window._session.gates.values()))"
    )
    done = run_watched(again, "--config-dir", tmp_path)
    assert done.stderr == ""
    head = "Head(kind=<AttentionKind.CROSS: 'cross'>, layer=2, head=3)"
    assert done.stdout == f"{TEXT} tiny {head} 1 scores True False It slept. [0.5]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_trace_on_the_command_line_is_shown(tiny: Path, tmp_path: Path) -> None:
    path = stored_trace(tmp_path / "other.npz")
    watch = on_settled("print(window._session.status.message, window._session.trace.kinds)")
    done = run_watched(watch, path, "--config-dir", tmp_path / "settings")
    assert done.stdout.startswith("trace from other.npz (<AttentionKind.ENCODER_SELF")
    again = on_settled("print(window._session.status.message)")
    done = run_watched(again, "--config-dir", tmp_path / "settings")
    assert done.stdout == "trace from other.npz\n", "it comes back at the next start"
    picture = tmp_path / "window.png"
    done = run(tmp_path / "missing.npz", "--screenshot", picture)
    assert done.returncode == 1
    assert "missing.npz does not exist" in done.stderr
    assert not picture.exists()
