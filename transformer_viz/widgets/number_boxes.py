"""Number fields that read what was typed as `typed_numbers` does, and say why they refuse it.

Qt's own boxes read by the locale: with an English one they drop the comma of ``0,8`` or take it for
a separator of groups. Here anything can be typed. While it cannot be used, the field is coloured,
keeps its value and says the reason below itself and to screen readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QKeyEvent, QValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDoubleSpinBox,
    QLineEdit,
    QSpinBox,
    QToolTip,
    QWidget,
)

from core.errors import UserError
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.typed_numbers import read_decimal, read_whole
from transformer_viz.widgets.accessibility import announce
from transformer_viz.words.wording import plain_tooltip

if TYPE_CHECKING:  # what both of Qt's boxes have

    class _Box(QAbstractSpinBox):
        def prefix(self) -> str: ...
        def suffix(self) -> str: ...
        def minimum(self) -> Any: ...
        def maximum(self) -> Any: ...
        def setValue(self, value: Any) -> None: ...
        def textFromValue(self, value: Any) -> str: ...
        def cleanText(self) -> str: ...

else:
    _Box = object


def mark_refused(line: QLineEdit, refused: bool) -> None:
    """Colour a text that cannot be used, by a dynamic property that the style sheet knows."""
    line.setProperty("refused", refused)
    line.style().unpolish(line)
    line.style().polish(line)


def say_below(field: QWidget, text: str) -> None:
    """Say why a text is refused, below its field; no text takes away what was said.

    It waits until Qt has dealt with the key or the change of focus that would hide it again.
    """
    if text or QToolTip.isVisible():
        place = field.mapToGlobal(QPoint(0, field.height() - 2 * GRID))
        shown = plain_tooltip(text) if text else ""
        QTimer.singleShot(0, field, lambda: QToolTip.showText(place, shown, field))


class _NumberBox(_Box):
    """What both boxes share. `problem` is the reason why the text cannot be used, or nothing."""

    problem = ""

    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, **properties)
        self.lineEdit().textEdited.connect(self._check)

    def read(self, text: str) -> Any:
        """The number that a text without prefix and suffix stands for.

        Raises:
            UserError: if it stands for none that this field can hold.
        """
        raise NotImplementedError

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        usable = not self._problem_of(text)
        state = QValidator.State.Acceptable if usable else QValidator.State.Intermediate
        return state, text, position

    def fixup(self, text: str) -> str:
        """Qt's own takes every comma out."""
        return text

    def valueFromText(self, text: str) -> Any:
        if text == self.specialValueText():
            return self.minimum()
        return self.read(self._bare(text))

    def setValue(self, value: Any) -> None:
        super().setValue(value)
        self._check()

    def stepBy(self, steps: int) -> None:
        super().stepBy(steps)
        self._check()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.problem:
            say_below(self, self.problem)
            self.selectAll()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        problem = self.problem
        super().focusOutEvent(event)
        self._check()
        if problem and not self.problem:
            say_below(self, f"{problem} The value stays {self.cleanText() or self.text()}.")

    def require_within(self, value: float) -> None:
        """Raise UserError, with both bounds, unless the field can hold the number."""
        if not self.minimum() <= value <= self.maximum():
            low, high = map(self.textFromValue, (self.minimum(), self.maximum()))
            raise UserError(f"Type a number from {low} to {high}.")

    def _problem_of(self, text: str) -> str:
        try:
            self.valueFromText(text)
        except UserError as error:
            return str(error)
        return ""

    def _bare(self, text: str) -> str:
        return text.removeprefix(self.prefix()).removesuffix(self.suffix())

    def _check(self) -> None:
        problem = self._problem_of(self.text())
        if problem == self.problem:
            return
        self.problem = problem
        mark_refused(self.lineEdit(), bool(problem))
        announce(self, problem)
        # somebody who has emptied a field is about to type
        say_below(self, problem if self._bare(self.text()).strip() else "")


class DecimalBox(_NumberBox, QDoubleSpinBox):
    """A field for a number with decimals, written with a point as everywhere in the window."""

    def textFromValue(self, value: Any) -> str:
        return f"{value:.{self.decimals()}f}"

    def read(self, text: str) -> float:
        value = read_decimal(text, self.minimum(), self.maximum())
        self.require_within(value)
        if round(value, self.decimals()) != value:
            places = self.decimals()
            raise UserError(f"Type at most {places} decimal{'s' if places != 1 else ''}.")
        return value


class WholeBox(_NumberBox, QSpinBox):
    """A field for a whole number."""

    def textFromValue(self, value: Any) -> str:
        return f"{value:,}" if self.isGroupSeparatorShown() else str(value)

    def read(self, text: str) -> int:
        value = read_whole(text)
        self.require_within(value)
        return value
