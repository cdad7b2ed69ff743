"""The export dialog: what, in which format, how large; to a file or the clipboard."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from transformer_viz.dialogs import Dialog
from transformer_viz.export.exporter import (
    FORMATS,
    PAINTED,
    SCALED,
    Colors,
    Export,
    Exporter,
    Format,
    Subject,
)
from transformer_viz.export.picture import SCALES
from transformer_viz.theme import GRID, set_role

TITLES = {
    Subject.VIEW: "&View shown",
    Subject.HEADS: "&Heads map",
    Subject.MATRIX: "&Matrix of the selected heads",
    Subject.DECODING: "&Decoding, step by step",
    Subject.TRACE: "Whole &trace",
}
EXPLANATIONS = {
    Format.PNG: "An image of pixels, for slides and web pages.",
    Format.SVG: "Lines and texts that stay sharp and can be edited, for web pages and drawings.",
    Format.PDF: "Lines and texts that stay sharp, fonts included, for papers.",
    Format.CSV: "A table with the keys in the first row, the queries in the first column and what "
    "it holds in the corner. "
    "Masked cells are empty; a token that a spreadsheet would compute begins with an apostrophe.",
    Format.TSV: "The same table with tabs, which can be pasted into a spreadsheet.",
    Format.GIF: "An animation: each step adds the row that chose the next token.",
    Format.NPZ: "Every map of every head with its tokens, for NumPy; this program reads it again.",
}
_PREVIEW = (80 * GRID, 56 * GRID)


class ExportDialog(Dialog):
    saveWanted = Signal(object)  # Export
    copyWanted = Signal(object)  # Export

    def __init__(self, exporter: Exporter, export: Export, parent: QWidget) -> None:
        """Opens on `export`."""
        super().__init__("Export", parent)
        self._exporter = exporter
        self.subjects = QButtonGroup(self)
        self.format = QComboBox()
        self.format.setAccessibleName("Format")
        self.scale = QComboBox()
        self.scale.setAccessibleName("Scale")
        for scale in SCALES:
            self.scale.addItem(f"{scale}×", scale)
        self.colors = QComboBox()
        self.colors.setAccessibleName("Colours")
        for colors in Colors:
            self.colors.addItem(colors.capitalize(), colors)
        self._preview = QLabel()
        self._preview.setFixedSize(*_PREVIEW)
        self._preview.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._preview.setAccessibleName("Preview")
        self._preview.setWordWrap(True)
        self._size, self._explanation = QLabel(), QLabel()
        self._explanation.setWordWrap(True)
        self._explanation.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self._explanation.setAlignment(Qt.AlignmentFlag.AlignTop)
        for label in (self._size, self._explanation):
            label.setTextFormat(Qt.TextFormat.PlainText)
            set_role(label, "soft")
        self.copy = QPushButton("&Copy")
        self.copy.setToolTip("Put it on the clipboard")
        self.save = QPushButton("&Save …")
        self.save.setDefault(True)
        self._lay_out()
        self._show(export)
        self.subjects.buttonClicked.connect(self._on_subject)
        self.format.currentIndexChanged.connect(self._follow)
        self.scale.currentIndexChanged.connect(self._follow)
        self.colors.currentIndexChanged.connect(self._follow)
        self.save.clicked.connect(lambda: self._end(self.saveWanted.emit))
        self.copy.clicked.connect(lambda: self._end(self.copyWanted.emit))

    @property
    def export(self) -> Export:
        subject = list(Subject)[self.subjects.checkedId()]
        format_ = Format(self.format.currentData())  # Qt keeps a plain string
        colors = Colors(self.colors.currentData())
        return Export(subject, format_, self.scale.currentData(), colors)

    def _lay_out(self) -> None:
        choices = QVBoxLayout()
        choices.setSpacing(2 * GRID)
        for number, subject in enumerate(Subject):
            button = QRadioButton(TITLES[subject])
            self.subjects.addButton(button, number)
            choices.addWidget(button)
        form = QFormLayout()
        form.setHorizontalSpacing(3 * GRID)
        form.setVerticalSpacing(2 * GRID)
        form.addRow("&Format", self.format)
        form.addRow("Sc&ale", self.scale)
        form.addRow("Co&lours", self.colors)
        form.addRow("Size", self._size)
        left = QVBoxLayout()
        left.setSpacing(4 * GRID)
        left.addLayout(choices)
        left.addLayout(form)
        left.addStretch()
        upper = QHBoxLayout()
        upper.setSpacing(6 * GRID)
        upper.addLayout(left)
        upper.addWidget(self._preview, 0, Qt.AlignmentFlag.AlignTop)
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * GRID)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        buttons.addWidget(close)
        buttons.addStretch()
        buttons.addWidget(self.copy)
        buttons.addWidget(self.save)
        self.column.addLayout(upper)
        self.column.addWidget(self._explanation)
        self.column.addLayout(buttons)

    def _show(self, export: Export) -> None:
        self.subjects.button(list(Subject).index(export.subject)).setChecked(True)
        self.scale.setCurrentIndex(self.scale.findData(export.scale))
        self.colors.setCurrentIndex(self.colors.findData(export.colors))
        self._fill_formats(export.format)
        self._follow()

    def _on_subject(self) -> None:
        self._fill_formats(self.format.currentData())
        self._follow()

    def _fill_formats(self, wanted: Format) -> None:
        """The formats of the subject; the first unless `wanted` is among them."""
        formats = FORMATS[list(Subject)[self.subjects.checkedId()]]
        self.format.blockSignals(True)
        self.format.clear()
        for format_ in formats:
            self.format.addItem(format_.upper(), format_)
        self.format.setCurrentIndex(formats.index(wanted) if wanted in formats else 0)
        self.format.setEnabled(len(formats) > 1)
        self.format.blockSignals(False)

    def _follow(self) -> None:
        export = self.export
        self.scale.setEnabled(export.format in SCALED)
        self.colors.setEnabled(export.format in PAINTED)
        self._explanation.setText(EXPLANATIONS[export.format])
        ready = self._exporter.ready
        try:
            self._size.setText(self._exporter.size(export))
            self._show_preview(self._exporter.preview(export))
        except UserError as error:
            ready = False
            self._size.setText("")
            self._preview.setText(str(error))
        self.save.setEnabled(ready)
        self.copy.setEnabled(ready and export.copyable)

    def _show_preview(self, image: QImage | None) -> None:
        if image is None:
            self._preview.setText("")
            return
        ratio = self.devicePixelRatioF()
        width, height = (round(side * ratio) for side in _PREVIEW)
        fit = Qt.AspectRatioMode.KeepAspectRatio
        smooth = Qt.TransformationMode.SmoothTransformation
        pixels = QPixmap.fromImage(image.scaled(width, height, fit, smooth))
        pixels.setDevicePixelRatio(ratio)
        self._preview.setPixmap(pixels)

    def _end(self, send: Callable[[Export], None]) -> None:
        export = self.export
        self.accept()
        send(export)
