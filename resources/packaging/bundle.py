"""Builds a bundle with PyInstaller and tries it, as a user without Python would.

python resources/packaging/bundle.py           build it in dist/, then try it
python resources/packaging/bundle.py --try     try the one that is there
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "dist" / "transformer-viz"
PROGRAM = FOLDER / ("transformer-viz.exe" if sys.platform == "win32" else "transformer-viz")
TEXT = "The animal didn't cross the street because it was too tired."
SECONDS = 300  # for the slowest step, on a slow machine
SMALL_RUN = (
    *("train", "tiny", "--steps", "4", "--device", "cpu", "--threads", "1", "--set"),
    *("grammar_pairs=2000", "validation_pairs=6", "warmup=1", "probe_points=0"),
)
ONE_HEAD_OFF = {"kind": "encoder_self", "layer": 0, "head": 0, "factor": 0.0}


def main() -> int:
    if "--try" not in sys.argv[1:]:
        build()
    with tempfile.TemporaryDirectory(prefix="transformer-viz-bundle-") as folder:
        for trial in (commands, picture, training, second_window, measuring):
            if trial in (second_window, measuring) and sys.platform != "linux":
                print(f"{trial.__name__}: skipped, as processes are looked for in /proc")
                continue
            began = time.monotonic()
            place = Path(folder, trial.__name__)
            place.mkdir()
            trial(place)
            print(f"{trial.__name__}: works ({time.monotonic() - began:.0f} s)", flush=True)
    files = [path for path in FOLDER.rglob("*") if path.is_file() and not path.is_symlink()]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"{FOLDER}: {megabytes:,.0f} MB in {len(files):,} files")
    return 0


def build() -> None:
    spec = Path(__file__).with_name("bundle.spec")
    places = ["--distpath", str(ROOT / "dist"), "--workpath", str(ROOT / "build" / "bundle")]
    options = ["--noconfirm", "--log-level", "WARN", *places]
    subprocess.run([sys.executable, "-m", "PyInstaller", *options, str(spec)], check=True)


def commands(place: Path) -> None:
    assert "transformer-viz" in run(place, "--version")
    assert "Tier" in run(place, "translate", TEXT)
    run(place, "install-desktop", "--prefix", str(place))


def picture(place: Path) -> None:
    run(place, "--text", TEXT, "--screenshot", str(place / "window.png"))
    assert (place / "window.png").stat().st_size > 50_000, "the window shows no result"


def training(place: Path) -> None:
    """With a second process, which multiprocessing starts to make the next epoch."""
    train, *rest = SMALL_RUN
    run(place, train, rest[0], "--out", str(place / "run"), *rest[1:])
    assert (place / "run" / "model.safetensors").exists()


def second_window(place: Path) -> None:
    texts = [place / "a.txt", place / "b.txt"]
    for path in texts:
        path.write_text(TEXT, encoding="utf-8")
    with Window(place, *map(str, texts)):
        # the first window has both names on its command line, the second its own alone
        wait_for(lambda: any("b.txt" in one and "a.txt" not in one for one in running()))


def measuring(place: Path) -> None:
    """A window whose settings have a head off measures by itself what that changes."""
    settings = {"model": "demo-en-de", "text": TEXT, "gates": [ONE_HEAD_OFF]}
    (place / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    with Window(place):
        wait_for(lambda: any("ablate" in one for one in running()))
        wait_for(lambda: not any("ablate" in one for one in running()))
    log = (place / "transformer-viz.log").read_text(encoding="utf-8")
    assert "ERROR" not in log, log


def run(place: Path, *arguments: str) -> str:
    """Return what the program prints; raises if it, or a process that it starts, fails."""
    done = subprocess.run(
        [str(PROGRAM), *arguments],
        cwd=place,
        env=environment(place),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
    # of a process that it started, and that took its arguments for those of a command
    assert not {"Traceback", "usage:"} & {*done.stderr.split()}, done.stderr
    return done.stdout


class Window:
    """An open window, and those that it opens; all are closed at the end, as by a signal."""

    def __init__(self, place: Path, *arguments: str) -> None:
        self._command = [str(PROGRAM), "--config-dir", str(place), *arguments]
        self._place = place

    def __enter__(self) -> None:
        self._process = subprocess.Popen(
            self._command, cwd=self._place, env=environment(self._place)
        )

    def __exit__(self, *error: object) -> None:
        for process in processes():
            os.kill(process, signal.SIGTERM)
        assert self._process.wait(SECONDS) == 0 or error[0] is not None
        wait_for(lambda: not running())


def environment(place: Path) -> dict[str, str]:
    """Return an environment in which nothing of this Python, or of the user, can be found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    home = {"HOME": str(place), "XDG_CACHE_HOME": str(place / "cache")}
    return kept | home | {"QT_QPA_PLATFORM": "offscreen", "PATH": os.defpath}


def processes() -> Iterator[int]:
    """Yield the processes of this bundle."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "exe").resolve() == PROGRAM.resolve():
                yield int(folder.name)
        except OSError:  # it has ended, or is not ours to see
            continue


def running() -> list[str]:
    """Return the command lines of the processes of this bundle."""
    found = []
    for process in processes():
        try:
            found.append(Path(f"/proc/{process}/cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
