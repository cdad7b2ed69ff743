"""The file that is being written, how far it is, and the button that gives it up."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.transfers import Transfers

PATIENCE = 400  # ms: what is quicker needs no bar
_STEPS = 1000


class ProgressStrip(QFrame):
    def __init__(self, transfers: Transfers, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._transfers = transfers
        self.setObjectName("progress_strip")
        self._text = QLabel(self)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._bar = QProgressBar(self)
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(2 * GRID)
        self._bar.setAccessibleName("Progress of saving")
        self.cancel = QPushButton("Cancel", self)
        self.cancel.setAccessibleName("Cancel saving")
        self.cancel.setToolTip("Cancel saving; an existing file stays as it is")
        self.cancel.clicked.connect(transfers.cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(4 * GRID, GRID, 3 * GRID, GRID)
        row.setSpacing(3 * GRID)
        row.addWidget(self._text)
        row.addWidget(self._bar, 1)
        row.addWidget(self.cancel)
        self.hide()
        self._waiting = QTimer(self, singleShot=True, interval=PATIENCE)
        self._waiting.timeout.connect(self.show)
        transfers.changed.connect(self._follow)

    def apply_theme(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"#progress_strip {{ border: none; border-bottom: 1px solid {theme.line}; }}"
        )

    def _follow(self) -> None:
        name, share = self._transfers.saving, self._transfers.share
        if not name:
            self._waiting.stop()
            self.hide()
            return
        self._text.setText(f"Saving {name}… {share:.0%}")
        self._bar.setValue(round(share * _STEPS))
        if self.isHidden() and not self._waiting.isActive():
            self._waiting.start()
