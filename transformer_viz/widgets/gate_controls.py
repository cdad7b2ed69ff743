"""What the selected heads contribute: on, off, even, isolated in their layer, or scaled."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from core.heads import EVEN, Gate
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.gates import STRONGEST, alone, is_alone, scaled
from transformer_viz.state.session import Session
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.number_boxes import DecimalBox
from transformer_viz.widgets.style import dress_spin_box

STEP = 0.1
_TIP = "Factor on the head's output, before the output projection: 1 is on, 0 is off"


class GateControls(QWidget):
    """Switches or scales all selected heads; disabled for a trace from a file."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        segments = QWidget(self)
        self.on = _segment("On", "The selected heads work as trained", segments)
        self.off = _segment("Off", "The selected heads pass nothing on (Ctrl+M)", segments)
        self.even = _segment(
            "Even",
            "The selected heads average over all that the mask lets them see (Ctrl+Shift+E)",
            segments,
        )
        self.alone = _segment(
            "Isolate", "Switch off all other heads of the layer (Ctrl+Shift+M)", self
        )
        self.factor = DecimalBox(
            self, minimum=0.0, maximum=STRONGEST, singleStep=STEP, decimals=2, value=1.0
        )
        self.factor.setPrefix("× ")
        self.factor.setKeyboardTracking(False)
        self.factor.setAccessibleName("Factor on the output of the selected heads")
        self.factor.setToolTip(_TIP)
        self.factor.setMinimumHeight(self.on.sizeHint().height())
        row = QHBoxLayout(segments)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for button in (self.on, self.off, self.even):
            row.addWidget(button)
        flow = FlowLayout(self, GRID)
        for part in (segments, self.alone, self.factor):
            flow.addWidget(part)

        self.on.clicked.connect(lambda: self._set(1.0))
        self.off.clicked.connect(lambda: self._set(0.0))
        self.even.clicked.connect(lambda: self._set(EVEN))
        self.alone.clicked.connect(self._leave_alone)
        self.factor.valueChanged.connect(lambda factor: self._set(round(factor, 2)))
        for changed in (session.gatesChanged, session.selectionChanged, session.traceChanged):
            changed.connect(self._show)
        self._show()

    def apply_theme(self, theme: Theme) -> None:
        dress_spin_box(self.factor, theme)

    def _set(self, gate: Gate) -> None:
        session = self._session
        session.set_gates(scaled(session.gates, session.selection.heads, gate))
        self._show()  # a click on what holds already has moved the button alone

    def _leave_alone(self) -> None:
        session = self._session
        if session.trace is not None:
            session.set_gates(alone(session.gates, session.selection.heads, session.trace))
        self._show()

    def _show(self) -> None:
        session = self._session
        trace, gates, heads = session.trace, session.gates, session.selection.heads
        self.setEnabled(trace is not None and trace.has_ids)
        chosen = {gates.get(head, 1.0) for head in heads}
        only = trace is not None and is_alone(gates, heads, trace)
        self.alone.setChecked(only)
        self.on.setChecked(chosen == {1.0} and not only)
        self.off.setChecked(chosen == {0.0})
        self.even.setChecked(chosen == {EVEN})
        self.factor.blockSignals(True)
        self.factor.setValue(max(1.0 if gate == EVEN else gate for gate in chosen))
        self.factor.blockSignals(False)


def _segment(text: str, tip: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setText(text)
    button.setCheckable(True)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setToolTip(tip)
    button.setAccessibleName(f"Heads {text.lower()}")
    return button
