"""Makes the pictures in docs/screenshots anew: `python docs/make_screenshots.py [NAME …]`.

Each is taken from the real window, offscreen, with the bundled model; see `pictures`. For those of
the training panel a run is trained first, and for two others heads are measured; each takes a
minute or two.
"""

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

from pictures import PICTURES, RANDOM, Picture, Scene
from PySide6.QtCore import QEventLoop, QLocale, QLoggingCategory, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from transformer_viz.backend import TorchBackend
from transformer_viz.controller import Controller
from transformer_viz.engine import Engine
from transformer_viz.heads.resolving import MEASURING
from transformer_viz.session import Phase, Session
from transformer_viz.settings import Settings, SettingsFile, default_threads
from transformer_viz.theme import ThemeManager
from transformer_viz.window import Window

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "screenshots"
RUN = Path("runs") / "tiny-1"  # in a temporary folder
RUN_SETTINGS = (
    *("--steps", "2000", "--threads", "1", "--set", "d_model=64", "encoder_heads=4"),
    *("decoder_heads=4", "encoder_d_ff=128", "decoder_d_ff=128", "warmup=200"),
    *("validate_every=200", "checkpoint_every=500"),
)
RANDOM_MODEL = (
    "languages=('>>afr<<', '>>deu<<', '>>nld<<')",
    *("encoder_layers=6", "decoder_layers=6", "d_model=64"),
    *("encoder_attention_heads=8", "decoder_attention_heads=8"),
    *("encoder_ffn_dim=128", "decoder_ffn_dim=128", "generation={'max_length': 16}"),
)
PATIENCE = 900  # s; on a busy machine measuring takes long
LOOK = 30  # ms between looks at whether something still changes
QUIET_LOOKS = 20  # in a row; longer than any pause that the program makes before it begins
BEST_COMPRESSION = 0  # Qt's "quality" of a PNG


def main(names: Sequence[str]) -> int:
    unknown = set(names) - {picture.name for picture in PICTURES}
    if unknown:
        print(f"There is no picture {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    QLoggingCategory.setFilterRules("qt.qpa.*=false\ndefault.warning=false")  # of that platform
    app = QApplication([])
    app.setCursorFlashTime(0)
    QLocale.setDefault(QLocale.c())
    FOLDER.mkdir(exist_ok=True)
    chosen = [picture for picture in PICTURES if not names or picture.name in names]
    with TemporaryDirectory() as folder, chdir(folder):
        for picture in chosen:
            if picture.run and not RUN.exists():
                train(RUN.absolute())
            if picture.random and not Path(RANDOM).exists():
                save_random_model(Path(RANDOM).absolute())
            take(app, picture)
            print(picture.name)
    return 0


def train(folder: Path) -> None:
    command = [sys.executable, "-m", "core", "train", "tiny", *RUN_SETTINGS, "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)


def save_random_model(folder: Path) -> None:
    """As `transformers` saves a MarianMTModel, in a process of its own: it is large to import."""
    code = (
        "import sys; from pathlib import Path; "
        "from tests.core.checkpoints.marian_folders import save_marian_folder; "
        f"save_marian_folder(Path(sys.argv[1]), {', '.join(RANDOM_MODEL)})"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True)


def take(app: QApplication, picture: Picture) -> None:
    """Open a window, bring it into the state of the picture and save what it shows."""
    settings = Settings(
        theme=picture.theme,
        text=picture.text,
        view=picture.view,
        options=picture.options,
        hint_done=not picture.hint,
    )
    session = Session()
    engine = Engine(TorchBackend(default_threads()))
    controller = Controller(session, engine, settings, SettingsFile(None))
    session.change_options(**asdict(settings.options))
    themes = ThemeManager(app, settings.theme)
    window = Window(session, controller, themes, runs=RUN.parent, cache=Path("cache"))
    window.resize(*picture.size)
    window.show_text(picture.text)
    window.show()
    controller.open_first()
    try:
        wait_until_quiet(window, session, controller)
        for act in picture.acts:
            act(Scene(window, session))
            wait_until_quiet(window, session, controller)
        path = FOLDER / f"{picture.name}.png"
        if not _shown(window, picture.part).grab().save(str(path), "PNG", BEST_COMPRESSION):
            raise OSError(f"{path} cannot be written")
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
