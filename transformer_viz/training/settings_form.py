"""All settings of a run as fields that check themselves while they are typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from core.errors import UserError
from core.training.config import RunConfig
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.training.device_check import DeviceCheck
from transformer_viz.training.fields import COMMON, Field, all_fields, in_words, values
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.style import set_role

_NAMED = re.compile(r"(\w+) = ")
_FIELD_WIDTH = 34 * GRID
_LINES_HEIGHT = 18 * GRID


class SettingsForm(QWidget):
    """A form of differences from a preset; `config` is None while a field is invalid."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._base: RunConfig | None = None
        self._fixed: dict[str, Any] = {}  # what is set elsewhere: the data
        self._devices = DeviceCheck(self)
        self._devices.changed.connect(self._check)
        self._loading = False
        self.config: RunConfig | None = None
        self.errors: dict[str, str] = {}
        self.rows: dict[str, FieldRow] = {}

        self.search = QLineEdit()
        self.search.setPlaceholderText("Search all settings")
        self.search.setAccessibleName("Search all settings")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self._groups: list[tuple[QLabel, list[FieldRow]]] = []
        self._nothing = QLabel("No setting matches.")
        set_role(self._nothing, "soft")
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 3 * GRID, 0)
        column.setSpacing(GRID)
        column.addWidget(self._nothing)
        for group, fields in all_fields().items():
            self._add_group(column, group, fields)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self.search)
        layout.addWidget(self._scroll, 1)
        self._filter("")

    def set_base(self, base: RunConfig, changes: Mapping[str, Any] | None = None) -> None:
        """Show a preset, with some settings changed."""
        self._base = base
        self._loading = True
        shown = values(base) | dict(changes or {})
        for name, row in self.rows.items():
            row.set_value(shown[name], values(base)[name])
        self._loading = False
        self._check()

    def set_fixed(self, fixed: Mapping[str, Any]) -> None:
        """Set what other controls hold; problems with it are in `errors` too."""
        self._fixed = dict(fixed)
        self._check()

    def show_error(self, name: str) -> None:
        """Lead to the first field that cannot be used."""
        if name in self.rows:
            self.search.clear()
            self._scroll.ensureWidgetVisible(self.rows[name])
            self.rows[name].editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_child(self) -> None:
        self._devices.close_child()

    def apply_theme(self, theme: Theme) -> None:
        """Do nothing: all of it follows from the style sheet."""

    def _add_group(self, column: QVBoxLayout, group: str, fields: list[Field]) -> None:
        heading = QLabel(group)
        set_role(heading, "title")
        heading.setContentsMargins(0, 0 if group == COMMON else 2 * GRID, 0, GRID)
        column.addWidget(heading)
        rows = []
        for field in fields:
            row = FieldRow(field)
            row.edited.connect(self._check)
            column.addWidget(row)
            self.rows[field.name] = row
            rows.append(row)
        self._groups.append((heading, rows))

    def _check(self) -> None:
        """Build the configuration; leave out what it refuses, one by one, to find all of that."""
        if self._base is None or self._loading:
            return
        usual = values(self._base)
        wanted, self.errors = self._read()
        changes = {name: value for name, value in wanted.items() if value != usual[name]}
        self.config = None
        for _ in range(len(changes) + 1):
            try:
                config = self._base.with_settings(changes)
            except UserError as error:
                message = str(error)
                name = self._blame(message, changes)
                own = message.startswith(f"{name} = ")
                self.errors[name] = in_words(allowed(message) if own else message)
                if name not in changes:
                    break
                del changes[name]
            else:
                self._require_device(config.training.device)
                self.config = None if self.errors else config
                break
        for name, row in self.rows.items():
            row.set_error(self.errors.get(name, ""))
        self.changed.emit()

    def _read(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The values of all settings, and what is wrong with those that cannot be read."""
        read, errors = {}, {}
        for name, row in self.rows.items():
            try:
                read[name] = row.value()
            except UserError as error:
                errors[name] = str(error)
        return read | self._fixed, errors

    def _require_device(self, device: str) -> None:
        """What is not known yet counts as there; the answer comes within seconds."""
        self._devices.ask(device)
        if device in self._devices.problems:
            self.errors["device"] = self._devices.problems[device]

    def _blame(self, message: str, changes: Mapping[str, Any]) -> str:
        named = _NAMED.match(message)
        name = named[1] if named else ""
        if name in changes or not changes:
            return name
        # the preset's value of that field clashes with one that was typed, and the error names it
        also = next((other for other in changes if re.search(rf"\b{other}\b", message)), None)
        return also or (name if name in self.rows else next(iter(changes)))

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        any_shown = False
        for heading, rows in self._groups:
            shown = [row for row in rows if all(word in row.searched for word in words)]
            for row in rows:
                row.setVisible(row in shown)
            heading.setVisible(bool(shown))
            any_shown = any_shown or bool(shown)
        self._nothing.setVisible(not any_shown)


class FieldRow(QWidget):
    """A label, its editor, and below them what is allowed if something else was typed."""

    edited = Signal()

    def __init__(self, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = field
        self.searched = f"{field.name} {field.label} {field.meaning}".lower()
        self.editor = self._make_editor()
        self.editor.setAccessibleName(field.label)
        self._label = QLabel(field.label)
        self._label.setBuddy(self.editor)
        self._error = QLabel()
        self._error.setTextFormat(Qt.TextFormat.PlainText)
        self._error.setWordWrap(True)
        set_role(self._error, "error")
        self._error.hide()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(0)
        grid.addWidget(self._label, 0, 0)
        if field.kind is tuple:
            self.editor.setFixedHeight(_LINES_HEIGHT)
            grid.addWidget(self.editor, 1, 0, 1, 2)
        else:
            self.editor.setFixedWidth(_FIELD_WIDTH)
            self.editor.setMinimumHeight(6 * GRID)
            grid.addWidget(self.editor, 0, 1)
        grid.addWidget(self._error, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)

    @property
    def name(self) -> str:
        """The label without how it is typed."""
        return self.field.label.partition(",")[0]

    @property
    def error(self) -> str:
        return self._error.text()

    def value(self) -> Any:
        """What the editor holds. Raises UserError where it should be a number and is none."""
        match self.editor:
            case QCheckBox():
                return self.editor.isChecked()
            case QComboBox():
                return self.editor.currentText()
            case QLineEdit():
                return self.field.read(self.editor.text())
            case QPlainTextEdit():
                return self.field.read(self.editor.toPlainText())
        raise AssertionError(self.editor)

    def set_value(self, value: Any, usual: Any) -> None:
        """Show a value; `usual` is what the preset has, for the tooltip."""
        shown = self.field.show(value)
        match self.editor:
            case QCheckBox():
                self.editor.setChecked(bool(value))
            case QComboBox():
                self.editor.setCurrentText(shown)
            case QLineEdit():
                self.editor.setText(shown)
                self.editor.setCursorPosition(0)
            case QPlainTextEdit():
                self.editor.setPlainText(shown)
        default = self.field.show(usual) or self.field.empty or "nothing"
        tip = (
            f"{self.field.meaning}\nIn the preset: {default}.\n"
            f"On the command line: --set {self.field.name}=…"
        )
        self.setToolTip(f"<p>{_escaped(tip)}</p>")
        announce(self.editor, self.field.meaning)

    def set_error(self, message: str) -> None:
        if message != self.error:
            self._error.setText(message)
            announce(self.editor, message or self.field.meaning)
        self._error.setVisible(bool(message))

    def _make_editor(self) -> QWidget:
        if self.field.kind is bool:
            box = QCheckBox()
            box.toggled.connect(self.edited)
            return box
        if self.field.choices:
            choice = QComboBox()
            choice.addItems(self.field.choices)
            choice.currentTextChanged.connect(self.edited)
            return choice
        if self.field.kind is tuple:
            lines = QPlainTextEdit()
            lines.setTabChangesFocus(True)
            lines.textChanged.connect(self.edited)
            return lines
        line = QLineEdit()
        if self.field.optional:
            line.setPlaceholderText(self.field.empty)
        line.textChanged.connect(self.edited)
        return line


def allowed(message: str) -> str:
    """Return "Allowed: 1 or more." from "steps = 0 is not possible; allowed: 1 or more.", for a
    field."""
    _, found, rest = message.partition("; allowed: ")
    return f"Allowed: {rest}" if found else message


def _escaped(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return escaped.replace("\n", "<br>")
