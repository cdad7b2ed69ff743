"""A lesson in front of a class: a strip for the panel, a large pointer, a presenter's keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QCursor, QKeyEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QGridLayout, QPushButton, QToolBar, QWidget

from core.lessons.lesson import Lesson
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.widgets.host import Host
from transformer_viz.widgets.text_line import label

POINTER = 48  # px
_STEPS = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class Presenting(QObject):
    """Shows the step of a lesson in one strip below the views.

    While it is on, Page Down and Page Up lead on and back wherever the keyboard is, as a presenter
    sends them to whatever was clicked last.
    """

    stepWanted = Signal(int)  # as `LessonPage.stepWanted`
    textWanted = Signal()
    endWanted = Signal()

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._host = host
        self._theme = LIGHT
        self._strip: QToolBar | None = None
        self._content = QWidget(host)
        self._content.hide()
        self.title = label("title")
        self.question = label("soft")
        self.back = QPushButton("&Back")
        self.again = QPushButton("&Show me")
        self.text = QPushButton("&Text")
        self.text.setToolTip("Show or hide the text of the step and the answers to its question")
        self.next = QPushButton("&Next")
        self.end = QPushButton("&End")
        self.end.setToolTip("End the presentation (F11 or Esc)")
        self._lay_out()
        self.back.clicked.connect(lambda: self.stepWanted.emit(-1))
        self.again.clicked.connect(lambda: self.stepWanted.emit(0))
        self.next.clicked.connect(lambda: self.stepWanted.emit(1))
        self.text.clicked.connect(self.textWanted)
        self.end.clicked.connect(self.endWanted)

    @property
    def is_on(self) -> bool:
        return self._strip is not None and not self._strip.isHidden()

    def start(self) -> None:
        """Show the strip and the pointer."""
        if self._strip is None:
            self._strip = self._made()
            self._show_question()
        self._strip.show()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.setOverrideCursor(pointer(self._theme, self._host.devicePixelRatioF()))
        app.installEventFilter(self)
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def stop(self) -> None:
        """Hide both again."""
        assert self._strip is not None
        self._strip.hide()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.restoreOverrideCursor()
        app.removeEventFilter(self)

    def show_step(self, lesson: Lesson, index: int) -> None:
        step, count = lesson.steps[index], len(lesson.steps)
        self.title.setText(f"{index + 1} of {count}: {step.title}")
        self.question.setText("" if step.question is None else step.question.text)
        if self._strip is not None:  # it would be a window of its own
            self._show_question()
        self.back.setEnabled(index > 0)
        self.next.setText("&Next" if index + 1 < count else "&Finish")

    def _show_question(self) -> None:
        self.question.setVisible(bool(self.question.text()))

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        if self.is_on:
            QApplication.changeOverrideCursor(pointer(theme, self._host.devicePixelRatioF()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is not QEvent.Type.KeyPress or not isinstance(watched, QWidget):
            return False
        assert isinstance(event, QKeyEvent)
        step = _STEPS.get(Qt.Key(event.key()))
        above = QApplication.activeModalWidget() or QApplication.activePopupWidget()
        if step is None or event.modifiers() not in _PLAIN or above is not None:
            return False
        self.stepWanted.emit(step)
        return True

    def _made(self) -> QToolBar:
        strip = QToolBar("Lesson", self._host)
        strip.setObjectName("lesson_strip")
        strip.setMovable(False)
        strip.toggleViewAction().setVisible(False)  # it comes and goes with the presentation
        strip.addWidget(self._content).setVisible(True)
        self._host.addToolBar(Qt.ToolBarArea.BottomToolBarArea, strip)
        return strip

    def _lay_out(self) -> None:
        grid = QGridLayout(self._content)
        grid.setContentsMargins(4 * GRID, 2 * GRID, 4 * GRID, 2 * GRID)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(0, 1)
        buttons = (self.back, self.again, self.text, self.next, self.end)
        for column, button in enumerate(buttons, start=1):
            grid.addWidget(button, 0, column)
        grid.addWidget(self.title, 0, 0)
        grid.addWidget(self.question, 1, 0, 1, -1)


def pointer(theme: Theme, ratio: float) -> QCursor:
    """Return a ring with a dot at its centre, edged so that it shows on light and on dark."""
    picture = QPixmap(round(POINTER * ratio), round(POINTER * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    centre = QPointF(POINTER / 2, POINTER / 2)
    solid, round_ = Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap
    for color, width in ((theme.color("paper"), 8), (theme.color("accent"), 4)):
        painter.setPen(QPen(color, width, solid, round_))
        painter.drawEllipse(centre, POINTER / 2 - 5, POINTER / 2 - 5)
        painter.drawPoint(centre)
    painter.end()
    return QCursor(picture, POINTER // 2, POINTER // 2)
