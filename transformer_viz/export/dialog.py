"""The export dialog: what, in which format, how large; to a file or the clipboard."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
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
from transformer_viz.drawing.theme import GRID
from transformer_viz.export.exporter import (
    FORMATS,
    PAINTED,
    PICTURES,
    SCALED,
    Colors,
    Export,
    Exporter,
    Format,
    Subject,
)
from transformer_viz.export.figure import NARROWEST, WIDEST, Figure, Shape
from transformer_viz.export.picture import SCALES
from transformer_viz.export.table import DELIMITERS, Dialect
from transformer_viz.widgets.dialogs import Dialog
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel

TITLES = {
    Subject.VIEW: "&View shown",
    Subject.HEADS: "&Heads map",
    Subject.MATRIX: "&Matrix of the selected heads",
    Subject.DECODING: "&Decoding, step by step",
    Subject.TRACE: "Whole &trace",
}
EXPLANATIONS = {
    Format.PNG: "Pixel image, for slides and web pages.",
    Format.SVG: "Vector graphic whose lines and text stay sharp and editable, for web pages and "
    "drawings.",
    Format.PDF: "Vector graphic with embedded fonts, for papers.",
    Format.CSV: "Table with the keys in the first row, the queries in the first column and the "
    "quantity "
    "in the corner. Masked cells are empty; a token that a spreadsheet would take for a "
    "formula gets an apostrophe in front.",
    Format.TSV: "The same table separated by tabs, ready to paste into a spreadsheet.",
    Format.GIF: "Animation in which each step adds the row that chose the next token.",
    Format.NPZ: "Every map of every head with its tokens, for NumPy; this program can open it.",
}
LEAST_POINTS, MOST_POINTS = 6, 48
_PREVIEW = (80 * GRID, 56 * GRID)


class ExportDialog(Dialog):
    saveWanted = Signal(object)  # Export
    copyWanted = Signal(object)  # Export

    def __init__(self, exporter: Exporter, export: Export, parent: QWidget) -> None:
        """Open the dialog on `export`."""
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
        self.shape = QComboBox()
        self.shape.setAccessibleName("Shape")
        for shape in Shape:
            self.shape.addItem(shape[:1].upper() + shape[1:], shape)
        self.width_box = _number("Width", "px", NARROWEST, WIDEST)
        self.width_box.setToolTip(
            "Width of the whole figure in pixels at 96 per inch; a slide has 1,280. The scale "
            "multiplies it."
        )
        self.text_size = _number("Text size", "pt", LEAST_POINTS, MOST_POINTS)
        self.text_size.setToolTip("Everything in the figure scales with it.")
        self.caption = QCheckBox("Caption with se&ntence and model")
        self.dialect = QComboBox()
        self.dialect.setAccessibleName("For")
        for dialect in Dialect:
            self.dialect.addItem(dialect[:1].upper() + dialect[1:], dialect)
        self._preview = PlainLabel()
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
        self.copy.setToolTip("Copy to the clipboard")
        self.save = QPushButton("&Save…")
        self.save.setDefault(True)
        self._lay_out()
        self._show(export)
        self.subjects.buttonClicked.connect(self._on_subject)
        self.format.currentIndexChanged.connect(self._follow)
        self.scale.currentIndexChanged.connect(self._follow)
        self.colors.currentIndexChanged.connect(self._follow)
        for box in (self.shape, self.dialect):
            box.currentIndexChanged.connect(self._follow)
        for number in (self.width_box, self.text_size):
            number.valueChanged.connect(self._follow)
        self.caption.toggled.connect(self._follow)
        self.save.clicked.connect(lambda: self._end(self.saveWanted.emit))
        self.copy.clicked.connect(lambda: self._end(self.copyWanted.emit))

    @property
    def export(self) -> Export:
        subject = list(Subject)[self.subjects.checkedId()]
        format_ = Format(self.format.currentData())  # Qt keeps a plain string
        colors = Colors(self.colors.currentData())
        figure = Figure(
            Shape(self.shape.currentData()),
            _chosen(self.width_box),
            _chosen(self.text_size),
            self.caption.isChecked(),
        )
        dialect = Dialect(self.dialect.currentData())
        return Export(subject, format_, self.scale.currentData(), colors, figure, dialect)

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
        form.addRow("Sha&pe", self.shape)
        form.addRow("&Width", self.width_box)
        form.addRow("Te&xt size", self.text_size)
        form.addRow("", self.caption)
        form.addRow("Fo&r", self.dialect)
        form.addRow("Size", self._size)
        self._form = form
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
        figure = export.figure
        self.shape.setCurrentIndex(self.shape.findData(figure.shape))
        for box, value in ((self.width_box, figure.width), (self.text_size, figure.points)):
            box.setValue(value or box.minimum())
        self.caption.setChecked(figure.caption)
        self.dialect.setCurrentIndex(self.dialect.findData(export.dialect))
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
        for field in (self.shape, self.width_box, self.text_size, self.caption):
            self._form.setRowVisible(field, export.subject in PICTURES)
        self._form.setRowVisible(self.dialect, export.format in DELIMITERS)
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


def _number(name: str, unit: str, low: int, high: int) -> WholeBox:
    """A field whose least value, one below `low`, leaves it to the figure."""
    box = WholeBox(minimum=low - 1, maximum=high, suffix=f" {unit}")
    box.setSpecialValueText("Automatic")
    box.setKeyboardTracking(False)
    box.setGroupSeparatorShown(True)
    box.setAccessibleName(name)
    return box


def _chosen(box: WholeBox) -> int:
    """The number, 0 where it is left to the figure."""
    return 0 if box.value() == box.minimum() else box.value()
