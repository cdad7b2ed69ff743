"""Which panel has the keyboard, and panels that hand it on to one of their parts."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QWidget


class Panel(QWidget):
    """Passes focus on as a focus proxy would, without moving to the end of the tab order."""

    def focus_part(self) -> QWidget:
        """What takes the keyboard when the panel is given it."""
        raise NotImplementedError

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_part().setFocus(event.reason())


def step_focus(panels: Sequence[QWidget], step: int) -> None:
    """Give the keyboard to the next panel, 1, or the previous one, -1, that can take it now."""
    takers = [panel for panel in panels if (panel.focusProxy() or panel).isVisible()]
    inside = [index for index, panel in enumerate(takers) if _has_focus(panel)]
    current = inside[0] if inside else -1 if step > 0 else 0
    takers[(current + step) % len(takers)].setFocus(Qt.FocusReason.ShortcutFocusReason)


def hide_panel(panel: QWidget, after: QWidget) -> None:
    """Hide it; the keyboard, if it was in there, goes to `after`, not to where Tab begins."""
    inside = _has_focus(panel)
    panel.close()
    if inside:
        after.setFocus(Qt.FocusReason.OtherFocusReason)


def _has_focus(panel: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (panel is focused or panel.isAncestorOf(focused))
