"""The controls of the reach view: what counts as far, and what it is compared with."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QWidget,
)

from core.trace.trace import AttentionKind
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.state.options import LEAST_KERNEL, MOST_KERNEL
from transformer_viz.state.session import Session
from transformer_viz.widgets.flow_layout import FlowLayout
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.widgets.text_line import PlainLabel
from transformer_viz.widgets.text_size import set_height, set_width_of

_DISTANCE = "Hide links between tokens closer than this."
_KERNEL = "Kernel width k of the convolutional networks that the links are compared with."
_SPECIALS = (
    "Include special tokens. The end token is a sink for many heads and far from most tokens, so "
    "special tokens are left out by default."
)


_SINKS = (
    "Include links to sinks: special tokens, punctuation or the first token, if they receive most "
    "of a head's weight whatever the query is."
)


class ReachOptions(QWidget):
    """Shows and changes the session's options; continues in a second line where it is narrow."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.distance = QSlider(Qt.Orientation.Horizontal)
        self.distance.setFixedWidth(36 * GRID)
        self.distance.setMinimum(1)
        self.distance.setAccessibleName("Minimum distance of links")
        self.distance.setToolTip(_DISTANCE)
        self._number = PlainLabel()
        set_width_of(self._number, "8,888")
        self.kernel = WholeBox(minimum=LEAST_KERNEL, maximum=MOST_KERNEL)
        self.kernel.setAccessibleName("Kernel width of the convolution")
        self.kernel.setToolTip(_KERNEL)
        self.specials = QPushButton("Special tokens")
        self.specials.setCheckable(True)
        self.specials.setAccessibleName("Include special tokens")
        self.specials.setToolTip(_SPECIALS)
        self.sinks = QPushButton("Sinks")
        self.sinks.setCheckable(True)
        self.sinks.setAccessibleName("Include links to sinks")
        self.sinks.setToolTip(_SINKS)
        self._of_links = (
            _group("min. distance", self.distance, self._number),
            _group("convolution, k =", self.kernel),
            self.sinks,
        )
        flow = FlowLayout(self, 4 * GRID)
        for widget in (*self._of_links[:-1], self.specials, self.sinks):
            set_height(widget, 7 * GRID)
            flow.addWidget(widget)
        change = session.change_options
        self.distance.valueChanged.connect(lambda tokens: change(reach_distance=tokens))
        self.kernel.valueChanged.connect(lambda width: change(reach_kernel=width))
        self.specials.clicked.connect(lambda on: change(reach_specials=on))
        self.sinks.clicked.connect(lambda on: change(reach_sinks=on))
        for changed in (session.optionsChanged, session.selectionChanged, session.traceChanged):
            changed.connect(self._follow)
        self._follow()

    def apply_theme(self, theme: Theme) -> None:
        dress_spin_box(self.kernel, theme)

    def show_links(self, shown: bool) -> None:
        """Whether the controls that links alone need are there."""
        for group in self._of_links:
            group.setVisible(shown)

    def _follow(self) -> None:
        options, trace = self._session.options, self._session.trace
        kind = self._session.selection.kind
        text = kind if kind is AttentionKind.DECODER_SELF else AttentionKind.ENCODER_SELF
        longest = 0 if trace is None else len(trace.query_tokens(text)) - 1
        self.distance.blockSignals(True)
        self.distance.setMaximum(max(longest, options.reach_distance, 1))
        self.distance.setValue(options.reach_distance)
        self.distance.blockSignals(False)
        self._number.setText(f"{options.reach_distance:,}")
        self.kernel.blockSignals(True)
        self.kernel.setValue(options.reach_kernel)
        self.kernel.blockSignals(False)
        self.specials.setChecked(options.reach_specials)
        self.sinks.setChecked(options.reach_sinks)


def _group(name: str, *controls: QWidget) -> QWidget:
    """Controls behind their name."""
    group = QWidget()
    row = QHBoxLayout(group)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(2 * GRID)
    label = QLabel(name)
    set_role(label, "soft")
    for widget in (label, *controls):
        row.addWidget(widget)
    return group
