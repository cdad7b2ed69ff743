"""The window in which a run is put together and started."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from core.presets import DESCRIPTIONS, PRESETS, preset
from core.system import name_problem
from core.training.config import RunConfig
from core.training.run_folder import RunFolder
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.launch import preset_of, train_arguments
from transformer_viz.training.data_box import DataBox
from transformer_viz.training.estimate_box import EstimateBox
from transformer_viz.training.run import Run
from transformer_viz.training.runs import Runs
from transformer_viz.training.settings_form import SettingsForm
from transformer_viz.training.table import Index
from transformer_viz.widgets.style import set_role

FIRST = "tiny"  # what a new user sees work within a minute
_ORDER = (FIRST, *(name for name in PRESETS if name != FIRST))
_SIZE = (248 * GRID, 160 * GRID)


class NewRun(QDialog):
    started = Signal(object)  # Run

    def __init__(self, runs: Runs, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("New training run")
        self._runs = runs
        self._named = False  # by the user, so that a suggestion does not change it
        self.preset = QComboBox()
        self.preset.setAccessibleName("Preset")
        for row, name in enumerate(_ORDER):
            self.preset.addItem(name, name)
            about = f"{name}: {DESCRIPTIONS[name]}"
            self.preset.setItemData(row, about, Qt.ItemDataRole.AccessibleTextRole)
        self.preset.view().setAccessibleName("Presets")
        self.preset.setItemDelegate(_Described(self.preset))
        self.preset.setMaxVisibleItems(len(_ORDER))
        self.preset.view().setMinimumWidth(self.preset.view().sizeHintForColumn(0) + 4 * GRID)
        self.about = _soft()
        self.data = DataBox()
        self.settings = SettingsForm()
        self.estimate = EstimateBox()
        self.name = QLineEdit()
        self.name.setAccessibleName("Run name")
        self.place = _soft()
        self.place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.folder = QPushButton("Other &folder…")
        self.folder.setAutoDefault(False)
        self.error = _soft()
        set_role(self.error, "error")
        self._folder = runs.folder
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start = self.buttons.addButton("&Start", QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setDefault(True)
        self._lay_out()
        self._connect()
        self.choose(FIRST)
        self.resize(*_SIZE)

    def choose(self, name: str) -> None:
        self.preset.setCurrentIndex(self.preset.findData(name))
        self._on_preset()

    def like(self, run: Run) -> None:
        """The settings of another run, under a new name."""
        if run.config is not None:
            training = run.config.training
            base = preset_of(str(run.about.get("command", "")), run.config)
            self.preset.setCurrentIndex(self.preset.findData(base))
            self._named = False
            self.settings.set_base(
                preset(base), {**run.config.model.to_dict(), **training.to_dict()}
            )
            self.data.set_data(training)
            self._suggest()

    @property
    def base(self) -> str:
        return str(self.preset.currentData())

    @property
    def config(self) -> RunConfig | None:
        return None if self.data.problem() else self.settings.config

    @property
    def path(self) -> Path:
        return self._folder / self.name.text().strip()

    def problem(self) -> str:
        """What keeps the run from being started, in one sentence, or nothing."""
        if wrong := name_problem(self.name.text().strip()):
            return wrong
        try:
            RunFolder.require_free(self.path)
        except (UserError, OSError) as error:
            return str(error)
        return ""

    def refresh(self) -> None:
        """Suggest a name that is free by now."""
        self._named = False
        self._suggest()

    def accept(self) -> None:
        """Start the run, or lead to what keeps it from that."""
        config = self.config
        if config is None:
            if self.data.problem():
                self.data.grammar.setFocus()
            else:
                self.settings.show_error(next(iter(self.settings.errors)))
            return
        if self.problem():
            self.name.setFocus()
            return
        try:
            run = self._runs.begin(self.base, config, self.path)
        except UserError as error:
            self._say(str(error))
            return
        self.estimate.close_child()
        self.settings.close_child()
        super().accept()
        self.started.emit(run)

    def reject(self) -> None:
        self.estimate.close_child()
        self.settings.close_child()
        super().reject()

    def apply_theme(self, theme: Theme) -> None:
        self.data.apply_theme(theme)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(3 * GRID)
        grid = QGridLayout()
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(GRID)
        grid.addWidget(_title("Preset"), 0, 0)
        grid.addWidget(self.preset, 0, 1)
        grid.addWidget(self.about, 1, 1)
        grid.setColumnStretch(1, 1)
        left.addLayout(grid)
        left.addWidget(_rule())
        left.addWidget(_title("Data"))
        left.addWidget(self.data)
        left.addWidget(_rule())
        left.addWidget(_title("Estimate"))
        left.addWidget(self.estimate)
        left.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(2 * GRID)
        right.addWidget(_title("Settings"))
        right.addWidget(self.settings, 1)
        columns = QHBoxLayout()
        columns.setSpacing(6 * GRID)
        columns.addLayout(left, 1)
        columns.addLayout(right, 1)
        names = QGridLayout()
        names.setHorizontalSpacing(3 * GRID)
        names.setVerticalSpacing(GRID)
        names.addWidget(_title("Name"), 0, 0)
        names.addWidget(self.name, 0, 1)
        names.addWidget(self.folder, 0, 2)
        names.addWidget(self.place, 1, 1, 1, 2)
        names.addWidget(self.error, 2, 1, 1, 2)
        names.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(5 * GRID, 5 * GRID, 5 * GRID, 4 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addLayout(columns, 1)
        layout.addWidget(_rule())
        layout.addLayout(names)
        layout.addWidget(self.buttons)

    def _connect(self) -> None:
        self.preset.activated.connect(lambda _index: self._on_preset())
        self.data.changed.connect(self._on_data)
        self.settings.changed.connect(self._on_settings)
        self.name.textChanged.connect(self._show_place)
        self.name.textEdited.connect(self._on_named)
        self.folder.clicked.connect(self._ask_for_folder)
        self.estimate.wanted.connect(self._measure)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def _on_preset(self) -> None:
        config = preset(self.base)
        self.about.setText(DESCRIPTIONS[self.base])
        self.settings.set_base(config)
        self.data.set_data(config.training)
        self._suggest()

    def _on_data(self) -> None:
        self.data.show_problem(self.data.problem())
        self.settings.set_fixed(self.data.settings())

    def _on_settings(self) -> None:
        self.estimate.set_config(self.config)
        self._show_place()

    def _on_named(self) -> None:
        self._named = True

    def _suggest(self) -> None:
        if not self._named:
            self.name.setText(self._runs.free_name(self.base))
        self._show_place()

    def _show_place(self) -> None:
        self.place.setText(str(self.path))
        self._say(self.problem() or self._wrong_settings())

    def _wrong_settings(self) -> str:
        """Names them, as few of them can be seen at a time."""
        rows = self.settings.rows
        wrong = [rows[name].name for name in self.settings.errors if name in rows]
        if not wrong:
            return ""
        return f"The values typed for {', '.join(wrong)} cannot be used."

    def _say(self, message: str) -> None:
        self.error.setText(message)
        self.error.setVisible(bool(message))

    def _ask_for_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(
            self, "Choose a folder for the run", str(self._folder)
        )
        if chosen:
            self._folder = Path(chosen)
            self._show_place()

    def _measure(self) -> None:
        if self.config is not None:
            words = train_arguments(self.base, self.config, self.path)
            place = words.index("--out")
            self.estimate.measure(["estimate", *words[1:place], *words[place + 2 :]])


class _Described(QStyledItemDelegate):
    """The list of presets says of each what it is; the closed box only names it."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.text = index.data(Qt.ItemDataRole.AccessibleTextRole)


def _title(text: str) -> QLabel:
    label = QLabel(text)
    set_role(label, "title")
    return label


def _soft() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    set_role(label, "soft")
    return label


def _rule() -> QFrame:
    line = QFrame()
    set_role(line, "rule")
    line.setFixedHeight(1)
    return line
