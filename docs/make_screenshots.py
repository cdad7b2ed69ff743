"""Makes the pictures in docs/screenshots anew: `python docs/make_screenshots.py [NAME …]`.

Each is taken from the real window, offscreen, with the bundled model; see `pictures`. One that does
not show what it is for is not saved: the script says what is missing and ends with 1.

For the pictures of the training panel a run is trained first, which takes some minutes;
`--runs FOLDER` keeps it for the next time. For two others heads are measured.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from marian_copy import save_marian_copy
from picture_acts import Scene
from pictures import MARIAN, PICTURES, RUN, Picture
from PySide6.QtCore import QEventLoop, QLocale, QLoggingCategory, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from core.bundled import FIRST_MODEL
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.heads.resolving import MEASURING
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.window import Window
from transformer_viz.state.session import Phase, Session
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.widgets.style import ThemeManager

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "screenshots"
RUNS = Path("runs")  # as some pictures name it
PATIENCE = 900  # s; on a busy machine measuring takes long
LOOK = 30  # ms between looks at whether something still changes
QUIET_LOOKS = 20  # in a row; longer than any pause that the program makes before it begins
BEST_COMPRESSION = 0  # Qt's "quality" of a PNG


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Make the pictures in docs/screenshots anew.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a picture (default: all)")
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="keeps the trained run")
    wanted = parser.parse_args(arguments)
    unknown = set(wanted.names) - {picture.name for picture in PICTURES}
    if unknown:
        parser.error(f"there is no picture {', '.join(sorted(unknown))}")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    QLoggingCategory.setFilterRules("qt.qpa.*=false\ndefault.warning=false")  # of that platform
    app = QApplication([])
    app.setCursorFlashTime(0)
    QLocale.setDefault(QLocale.c())
    FOLDER.mkdir(exist_ok=True)
    chosen = [picture for picture in PICTURES if picture.name in wanted.names or not wanted.names]
    runs = wanted.runs and wanted.runs.absolute()
    failed = 0
    with TemporaryDirectory() as folder, chdir(folder):
        if runs is None:
            RUNS.mkdir()
        else:
            runs.mkdir(parents=True, exist_ok=True)
            RUNS.symlink_to(runs)
        for picture in chosen:
            if picture.run and not (RUNS / RUN).exists():
                train((RUNS / RUN).absolute())
            if picture.marian and not Path(MARIAN).exists():
                save_marian_copy(FIRST_MODEL, Path(MARIAN))
            missing = take(app, picture)
            failed += bool(missing)
            print(f"{picture.name}: {missing}" if missing else picture.name, flush=True)
    return int(failed > 0)


def train(folder: Path) -> None:
    preset, seed = RUN.split("-")
    command = [sys.executable, "-m", "core", "train", preset, "--seed", seed, "--out", str(folder)]
    subprocess.run([*command, "--threads", "1"], cwd=ROOT, check=True)


def take(app: QApplication, picture: Picture) -> str:
    """Open a window, bring it into the state of the picture and save what it shows.

    Returns:
        What the picture lacks, in a sentence, and it is then not saved; "" if nothing.
    """
    settings = Settings(
        theme=picture.theme,
        text=picture.text,
        view=picture.view,
        options=picture.options,
        hint_done=not picture.hint,
    )
    session = Session()
    engine = Engine(TorchBackend(threads=1))
    controller = Controller(session, engine, settings, SettingsFile(None))
    session.change_options(**asdict(settings.options))
    themes = ThemeManager(app, settings.theme)
    window = Window(session, controller, themes, runs=RUNS, cache=Path("cache"))
    window.resize(*picture.size)
    window.show_text(picture.text)
    window.show()
    controller.open_first()
    try:
        wait_until_quiet(window, session, controller)
        scene = Scene(window, session, controller)
        for act in picture.acts:
            act(scene)
            wait_until_quiet(window, session, controller)
        if missing := picture.shows(scene):
            return missing
        path = FOLDER / f"{picture.name}.png"
        if not _shown(window, picture.part).grab().save(str(path), "PNG", BEST_COMPRESSION):
            raise OSError(f"{path} cannot be written")
        return ""
    except LookupError as error:  # an act found no widget of that name
        return str(error)
    finally:
        window.close()


def wait_until_quiet(window: Window, session: Session, controller: Controller) -> None:
    """Until the model has answered every question and all pictures are drawn."""
    end = time.monotonic() + PATIENCE
    quiet = 0
    while quiet < QUIET_LOOKS:
        if time.monotonic() > end:
            raise TimeoutError(f"still busy after {PATIENCE} s: {session.status.message}")
        _let_run(LOOK)
        quiet = 0 if _is_busy(window, session, controller) else quiet + 1


def _let_run(milliseconds: int) -> None:
    """Run the event loop, and the model's thread meanwhile, which QTest.qWait would hold up."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def _is_busy(window: Window, session: Session, controller: Controller) -> bool:
    decoding = controller.decoding
    return (
        session.status.phase is not Phase.READY
        or controller.comparison.status.phase is Phase.BUSY
        or controller.what_if.asking
        or decoding.growing
        or bool(decoding.asking)
        or controller.heads.running is not None
        or controller.resolving.message == MEASURING
        or (controller.resolving.pair is not None and not controller.resolving.traces)
        or controller.mattering.running
        or controller.distance.running is not None
        or controller.effect.running
        or window.is_drawing()
    )


def _shown(window: Window, part: str) -> QWidget:
    if part == "dialog":
        return next(one for one in window.findChildren(QDialog) if one.isVisible())
    shown = attrgetter(part)(window) if part else window
    assert isinstance(shown, QWidget)
    return shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
