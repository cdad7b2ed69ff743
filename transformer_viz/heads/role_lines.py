"""What the selected head does over a corpus, in the inspector: its roles, or how to get them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from core.trace.trace import Head
from transformer_viz.drawing.theme import GRID
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.here import Here, here
from transformer_viz.heads.report import Role
from transformer_viz.heads.wording import NO_ROLE, judgement, measured_on, role_name, score_over
from transformer_viz.state.bundled import subject_of
from transformer_viz.state.languages import asking_for
from transformer_viz.state.session import Session
from transformer_viz.widgets.focus import Panel
from transformer_viz.words.wording import head_numbers, plain_tooltip

SHOWN = 2
OUTDATED = "Its roles were measured by an older version; measure again to confirm them."


class RoleLines(Panel):
    wanted = Signal()  # the panel with all of it

    def __init__(
        self, session: Session, analysis: HeadAnalysis, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._analysis = analysis
        self.lines = QLabel()
        self.lines.setTextFormat(Qt.TextFormat.PlainText)
        self.lines.setWordWrap(True)
        self.lines.setAccessibleName("Roles of this head")
        self.open = QPushButton()
        self.open.setAccessibleName("What this head does over a corpus")
        self.open.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addWidget(self.lines)
        column.addWidget(self.open, 0, Qt.AlignmentFlag.AlignLeft)
        session.selectionChanged.connect(self._refresh)
        session.originChanged.connect(self._refresh)
        session.traceChanged.connect(self._refresh)
        analysis.changed.connect(self._refresh)
        self._refresh()

    def focus_part(self) -> QWidget:
        return self.open

    def _refresh(self) -> None:
        self.setVisible(not self._session.origin)  # else the heads shown are not the model's
        measured, head = self._analysis.measured, self._session.selection.primary
        found = None if measured is None else measured.report.heads.get(head)
        self.lines.setVisible(found is not None)
        if measured is None or found is None:
            self.open.setText("What does it do?")
            self.open.setToolTip("Measure all heads over a corpus")
            return
        roles = found.passed
        heres = {role.name: self._here(role, head) for role in roles}
        first = sorted(roles, key=lambda role: heres[role.name] is None)[:SHOWN]
        lines = [_line(role, heres[role.name]) for role in first]
        if len(roles) > SHOWN:
            lines.append(f"and {len(roles) - SHOWN} more")
        if not roles and any(role.outdated for role in found.roles):
            lines = [OUTDATED]
        which = f"{head_numbers(head)}: " if len(self._session.selection.heads) > 1 else ""
        self.lines.setText(which + ("\n".join(lines) or NO_ROLE))
        all_of_it = [f"{role_name(role).short}: {judgement(role)}" for role in roles]
        self.lines.setToolTip(plain_tooltip("\n".join([*all_of_it, measured_on(measured)])))
        self.open.setText("Example sentences…")
        self.open.setToolTip("Show everything measured for this head")

    def _here(self, role: Role, head: Head) -> Here | None:
        trace = self._session.trace
        if trace is None:
            return None
        return here(role, head, trace, subject_of(asking_for("", trace.text)))


def _line(role: Role, found: Here | None) -> str:
    """As in "looks from the pronoun to its antecedent", and below it "0.83 over 432 links; here
    “it” → “animal” 0.99"."""
    line = f"{role_name(role).claim}\n{score_over(role)}"
    if found is None:
        return line
    place = "⚠ but not here:" if found.agrees is False else "here"
    return f"{line}; {place} {found.text}"
