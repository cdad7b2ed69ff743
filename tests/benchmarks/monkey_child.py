"""A monkey at the real window for so many seconds; prints what memory it takes as JSON lines.

bench_monkey runs it: `monkey_child SECONDS SEED FOLDER [traced]`. At each sample the window shows
the same sentence in the same view, so that what grows is kept by mistake or by design, and is not
what happens to be shown. With `traced`, tracemalloc says at the end on stderr which lines of code
hold more than at the first sample; this takes twice the time.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import sys
import time
import tracemalloc
from pathlib import Path

from PySide6.QtCore import qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from core.bundled import bundled_models
from core.trace.npz import save_npz
from tests.benchmarks.memory import resident_megabytes
from tests.benchmarks.waiting import wait_until
from tests.monkey import Monkey, caged
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.window import Window
from transformer_viz.state.session import Phase, Session
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.widgets.style import ThemeManager

SENTENCE = "The animal didn't cross the street because it was too tired."
SAMPLES = 10
ACTS = 50  # between two looks at the clock
WARM_UP = 500  # acts, after which every panel has probably been built
SHOWN_LINES = 25
MIB = 1 << 20


class Seat:
    """A window on the bundled model, and the monkey in front of it."""

    def __init__(self, app: QApplication, seed: int, folder: Path) -> None:
        self.session = Session()
        self.controller = Controller(
            self.session, Engine(TorchBackend(1)), Settings(), SettingsFile(folder / "settings")
        )
        self.window = Window(
            *(self.session, self.controller, ThemeManager(app, "light")),
            runs=folder / "runs",
            cache=folder / "cache",
        )
        self.window.resize(1280, 800)
        self.window.show()
        self.controller.open_first()
        self.rest()
        self.monkey = Monkey(self.window, seed, self._files(folder))

    def rest(self) -> None:
        """Show the same sentence in the same view, with nothing to undo."""
        self.session.set_gates({})
        self.controller.comparison.choose_text(None)
        self.controller.comparison.choose_model(None)
        self.controller.open(bundled_models()[0])
        self.window.show_view("heatmap")
        self.window.show_text(SENTENCE)
        wait_until(self._is_at_rest)
        self.window.history.clear()
        QApplication.processEvents()
        gc.collect()

    def _is_at_rest(self) -> bool:
        trace, session, controller = self.session.trace, self.session, self.controller
        return (
            trace is not None
            and trace.text == session.text == SENTENCE
            and session.status.phase in (Phase.READY, Phase.FAILED)
            and session.model is not None
            and session.model.path == bundled_models()[0]
            and not self.window.is_drawing()
            and not controller.transfers.saving
        )

    def _files(self, folder: Path) -> list[Path]:
        trace, text, noise, session = (
            folder / name for name in ("a.npz", "a.txt", "noise.npz", "a.tviz")
        )
        assert self.session.trace is not None
        save_npz(self.session.trace, trace)
        text.write_text("The dog slept because it was tired.", encoding="utf-8")
        noise.write_bytes(b"PK\x03\x04" + bytes(range(256)))
        self.window.files.documents.save(session)
        wait_until(session.exists)
        return [trace, text, noise, session, folder / "missing", *bundled_models()]


def memory() -> dict[str, float]:
    """In MB: resident; in use according to the C library; in Python objects, if traced."""
    found = {"resident": resident_megabytes()}
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallinfo2"):

        class Info(ctypes.Structure):
            _fields_ = tuple(
                (name, ctypes.c_size_t)
                for name in (
                    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
                    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
                )
            )

        libc.mallinfo2.restype = Info
        info = libc.mallinfo2()
        found["in_use"] = (info.uordblks + info.hblkhd) / MIB
        found["free"] = info.fordblks / MIB
    if tracemalloc.is_tracing():
        found["python"] = tracemalloc.get_traced_memory()[0] / MIB
    return found


def main() -> int:
    seconds, seed, folder = float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    logging.disable(logging.WARNING)
    app = QApplication([])
    qInstallMessageHandler(lambda *_: None)  # the offscreen platform says what it cannot do
    errors: list[str] = []
    with caged(folder):
        seat = Seat(app, seed, folder)

        def fail(kind: type[BaseException], error: BaseException, trace: object) -> None:
            errors.append(f"{kind.__name__}: {error}")
            sys.__excepthook__(kind, error, trace)  # type: ignore[arg-type]
            print("\n".join(seat.monkey.last), file=sys.stderr)

        sys.excepthook = fail
        seat.monkey.play(WARM_UP)
        seat.rest()
        if "traced" in sys.argv:
            tracemalloc.start(12)
        began = time.monotonic()
        first = None
        for sample in range(SAMPLES + 1):
            while time.monotonic() - began < seconds * sample / SAMPLES:
                seat.monkey.play(ACTS)
            seat.rest()
            said = {"seconds": time.monotonic() - began, "acts": seat.monkey.acts} | memory()
            print(json.dumps(said | {"errors": len(errors)}), flush=True)
            if tracemalloc.is_tracing() and sample == 1:
                first = tracemalloc.take_snapshot()
        if first is not None:
            grown = tracemalloc.take_snapshot().compare_to(first, "traceback")
            for statistic in grown[:SHOWN_LINES]:
                print(statistic, *statistic.traceback.format(), sep="\n", file=sys.stderr)
        seat.window.end()
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
