"""What the selected head does: its roles, one of them in words, and the sentences behind it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from core.trace.trace import Head
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.heads.evidence_list import EvidenceList
from transformer_viz.heads.report import Evidence, MeasuredHead, Report, Role
from transformer_viz.heads.wording import NO_ROLE, judgement, role_name, sort_name
from transformer_viz.state.session import Session
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import head_title


class RolePage(QWidget):
    wanted = Signal(object, object)  # Head and Evidence to show

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._report: Report | None = None
        self._measured: MeasuredHead | None = None
        self._preferred = ""  # the role that the map is coloured by, or that was chosen last
        self._title, self._claim, self._judgement = _label("title"), _label(""), _label("soft")
        self.roles = QComboBox()
        for part in (self.roles, self.roles.view()):
            part.setAccessibleName("Role of this head")
        self.roles.setMinimumContentsLength(14)
        self.roles.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.evidence = EvidenceList()
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self._title, 1)
        row.addWidget(self.roles)
        row.addSpacing(GRID)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 2 * GRID, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(row)
        column.addWidget(self._claim)
        column.addWidget(self._judgement)
        column.addWidget(self.evidence, 1)
        set_role(self, "paper")
        self.roles.activated.connect(self._on_role)
        self.evidence.wanted.connect(self._on_wanted)
        session.selectionChanged.connect(self._follow)

    def show_report(self, report: Report) -> None:
        self._report = report
        self._measured = None
        self._follow()

    def prefer(self, role: str) -> None:
        """Show this role of whichever head is selected."""
        self._preferred = role
        self._fill()

    def apply_theme(self, theme: Theme) -> None:
        self.evidence.apply_theme(theme)

    @property
    def role(self) -> Role | None:
        measured = self._measured
        return None if measured is None else measured.role(str(self.roles.currentData() or ""))

    def _follow(self) -> None:
        head = self._session.selection.primary
        measured = None if self._report is None else self._report.heads.get(head)
        if measured is not self._measured or measured is None:
            self._measured = measured
            self._fill()

    def _fill(self) -> None:
        """The roles that the head has come first, then those that it has not."""
        measured = self._measured
        self._title.setText(head_title(self._session.selection.primary))
        self.roles.clear()
        if measured is not None:
            passed = measured.passed
            missed = sorted(
                (role for role in measured.roles if not role.passed),
                key=lambda role: role.threshold - role.score,
            )
            for role in (*passed, *missed):
                self.roles.addItem(_entry(role), role.sort)
                definition = role_name(role).definition
                index = self.roles.count() - 1
                self.roles.setItemData(index, definition, Qt.ItemDataRole.ToolTipRole)
        self.roles.setVisible(self.roles.count() > 0)
        self.roles.setCurrentIndex(max(0, self.roles.findData(self._preferred)))
        self._show_role()

    def _on_role(self, index: int) -> None:
        self._preferred = self.roles.itemData(index)
        self._show_role()

    def _show_role(self) -> None:
        role, head = self.role, self._session.selection.primary
        if role is None:
            known = self._measured is not None
            self._claim.setText(NO_ROLE if known else "This head was not measured.")
            self._judgement.setText("")
        else:
            name = role_name(role)
            self._claim.setText(_claim(role))
            self._judgement.setText(judgement(role))
            for label in (self._claim, self._judgement):
                label.setToolTip(name.definition)
        self.evidence.show_role(role, head.kind)

    def _on_wanted(self, evidence: Evidence) -> None:
        head: Head = self._session.selection.primary
        if self._measured is not None:
            head = self._measured.head
        self.wanted.emit(head, evidence)


def _claim(role: Role) -> str:
    claim = role_name(role).claim
    if role.explained_by:
        return f"Explained by “{sort_name(role.explained_by).short}”: it {claim}."
    return f"{'It' if role.passed else 'Not confirmed: it'} {claim}."


def _entry(role: Role) -> str:
    return f"{'✓' if role.passed else '–'} {role_name(role).short}  {role.score:.2f}"


def _label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    set_role(label, role)
    return label
