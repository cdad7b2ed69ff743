"""The real window on real models, small and untrained: put odd things in, and see what it shows.

pytest-qt fails a test in which a slot or an event handler raises, or Qt warns.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.engine import Engine
from transformer_viz.positions.positions import PAGES, Positions
from transformer_viz.reach.reach import DISTANCES, LINKS, ReachView
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.window import Window
from transformer_viz.state.options import ViewOptions
from transformer_viz.state.session import Phase, Session
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import ThemeManager

OTHER_SENTENCE = "The dog slept."
"""Side B of a comparison."""


class OddWindow:
    """A window that stays open while texts, models and traces come and go."""

    def __init__(self, app: QApplication) -> None:
        self.session = Session()
        engine = Engine(TorchBackend(threads=1))
        self.controller = Controller(self.session, engine, Settings(), SettingsFile(None))
        self.window = Window(self.session, self.controller, ThemeManager(app, "light"))
        self.window.resize(1000, 700)
        self.stage = self.window.stage
        self.notices: list[str] = []
        for said in (self.controller.noticed, self.controller.openFailed):
            said.connect(self.notices.append)
        self.bot: QtBot

    def show(self, bot: QtBot) -> None:
        """As it was at first, but for the model and the text."""
        self.bot = bot
        self.notices.clear()
        self.window.notice.close_message()
        self.session.release()
        self.options()
        self.controller.what_if.change(positions=True, seed=None)
        self.controller.comparison.choose_text(None)
        self.controller.set_keep_whole(True)  # every text is to have one picture
        self.window.show_view("heatmap")
        self.window.show()

    # In

    def load(self, path: Path) -> None:
        with self.bot.waitSignal(self.session.modelChanged):
            self.controller.open(path)
        self._answered()

    def type(self, text: str) -> None:
        with self.bot.waitSignal(self.controller.settled):
            self.window.show_text(text)
        self._answered()

    def open(self, path: Path) -> None:
        with self.bot.waitSignals([self.session.traceChanged, self.controller.settled]):
            self.window.files.documents.open(path)

    def options(self, **changes: object) -> None:
        """Those that nobody has changed, with these changes."""
        plain = {name: getattr(ViewOptions(), name) for name in ViewOptions.__slots__}
        self.session.change_options(**(plain | changes))

    def select_all(self) -> None:
        """Every head of the kind that is selected."""
        trace, kind = self.session.trace, self.session.selection.kind
        assert trace is not None
        layers = range(trace.layers(kind))
        heads = [(layer, head) for layer in layers for head in trace.heads(kind, layer)]
        self.session.select(others=tuple(heads))

    # Out

    def maps(self) -> Iterator[StageView]:
        """Each view that draws the selected heads, shown and painted."""
        for view in ("heatmap", "links", "scores", "decoding", "compare"):
            self.window.show_view(view)
            if view == "compare":
                self.controller.comparison.choose_text(OTHER_SENTENCE)
            yield self._painted(self.stage.view())

    def pages(self) -> Iterator[StageView]:
        """The same of all pages of the positions, of how far heads look and of the beam tree."""
        positions, decoding = self.stage.of(Positions), self.stage.of(DecodingView)
        self.window.show_view("positions")
        for page in PAGES:
            positions.show_page(page)
            self.controller.what_if.change(positions=page != "what_if")
            yield self._painted(positions)
        self.window.show_view("reach")
        for page in (LINKS, DISTANCES):
            self.stage.of(ReachView).show_page(page)
            yield self._painted(self.stage.of(ReachView))
        self.window.show_view("decoding")
        if decoding.tree_button.isVisible():
            decoding.tree_button.click()
            self.controller.decoding.grow_tree()
            yield self._painted(decoding)
            decoding.steps_button.click()

    def _painted(self, view: StageView) -> StageView:
        self.bot.waitUntil(lambda: not self.busy)
        QApplication.processEvents()  # what changed its size is laid out when the events say so
        view.grab()
        return view

    @property
    def busy(self) -> bool:
        desks = self.controller
        return (
            self.window.is_drawing()
            or desks.what_if.asking
            or desks.decoding.growing
            or desks.comparison.status.phase is Phase.BUSY
        )

    def _answered(self) -> None:
        status = self.session.status.phase
        self.bot.waitUntil(lambda: status is not Phase.READY or self.trace_is_of_the_text)

    @property
    def trace_is_of_the_text(self) -> bool:
        return self.session.trace is not None and self.session.trace.text == self.session.text


def written(view: StageView) -> list[str]:
    """Every text in the picture that a view exports."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(view.export_size())
    with QPainter(generator) as painter:
        view.paint_export(painter, QRect(QPoint(0, 0), view.export_size()))
    svg = bytes(buffer.data().data()).decode()
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
