"""The beam search as a tree, with its legend and the formula of its scores."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from core.counted import counted
from core.decoding.beam_tree import BeamTree
from transformer_viz.decoding.beam_canvas import BeamCanvas
from transformer_viz.decoding.beam_layout import MARGIN
from transformer_viz.decoding.beam_picture import draw_legend
from transformer_viz.decoding.hypotheses_desk import Decoding
from transformer_viz.drawing.numbers import signed
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import score_formula

_LINE = 8 * GRID  # of an exported picture's head


class BeamPage(QWidget):
    def __init__(self, decoding: Decoding) -> None:
        super().__init__()
        self._decoding = decoding
        self.canvas = BeamCanvas()
        self.pruned = QPushButton("Pruned")
        self.pruned.setCheckable(True)
        self.pruned.setChecked(True)
        self.pruned.setToolTip("Show hypotheses that were pruned from the beam")
        self.fit = QPushButton("Fit")
        self.fit.setAccessibleName("Fit the whole tree")
        self.fit.setToolTip("Show the whole tree (0); Ctrl+wheel, + and − zoom")
        self._legend = _Legend()
        self._formula = _label("soft")
        self._offer = _label("soft")
        self._offer.setWordWrap(True)
        self._offer.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.grow = QPushButton("Search")
        self._lay_out()
        self.pruned.toggled.connect(self.canvas.set_pruned)
        self.fit.clicked.connect(self.canvas.fit)
        self.grow.clicked.connect(decoding.grow_tree)
        self.canvas.chosen.connect(decoding.show_node)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(4 * GRID)
        head.addWidget(self._legend, 1)
        head.addWidget(self.pruned)
        head.addWidget(self.fit)
        tree = QWidget()
        column = QVBoxLayout(tree)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GRID)
        column.addLayout(head)
        column.addWidget(self._formula)
        column.addWidget(self.canvas, 1)
        offer = QWidget()
        middle = QVBoxLayout(offer)
        middle.addStretch(2)
        middle.addWidget(self._offer)
        middle.addSpacing(2 * GRID)
        middle.addWidget(self.grow, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(3)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(offer)
        self._pages.addWidget(tree)

    def apply_theme(self, theme: Theme) -> None:
        for part in (self.canvas, self._legend):
            part.apply_theme(theme)

    def show_tree(self) -> None:
        decoding, tree = self._decoding, self._decoding.tree
        self.canvas.set_tree(tree)
        self._pages.setCurrentIndex(int(tree is not None))
        if tree is None:
            self._show_offer()
            return
        active = decoding.active
        self.canvas.set_shown(() if active is None else active.ids)
        self._formula.setText(_summary(tree))
        self._formula.setToolTip(
            "|Y|: number of tokens, including the end token; α is set at the top of the window"
        )

    def export_size(self) -> QSize:
        """The whole tree, whatever part of it is in view."""
        return self.canvas.whole_size().expandedTo(QSize(160 * GRID, 0)) + QSize(0, 2 * _LINE)

    def paint_export(self, painter: QPainter, rect: QRectF) -> None:
        legend = QRectF(rect.left() + MARGIN, rect.top(), rect.width(), _LINE)
        draw_legend(painter, legend, self.canvas.theme, self.font())
        painter.setFont(self.font())
        painter.setPen(self.canvas.theme.color("soft"))
        formula = legend.translated(0, _LINE)
        painter.drawText(formula, Qt.AlignmentFlag.AlignVCenter, self._formula.text())
        painter.translate(rect.left(), rect.top() + 2 * _LINE)
        self.canvas.paint_whole(painter)

    def _show_offer(self) -> None:
        """While there is no tree: why, or the wish to have one."""
        decoding, beam = self._decoding, self._decoding.search.beam
        if decoding.growing:
            text = f"Searching with beam {beam}…"
        elif decoding.problem or decoding.obstacle:
            text = decoding.problem or decoding.obstacle
        else:
            text = (
                "Beam search keeps the best hypotheses at each step and drops the rest. Start "
                "one to see every hypothesis it considers."
            )
        self._offer.setText(text)
        self.grow.setText(f"Search with beam {beam}")
        self.grow.setVisible(not decoding.growing and not decoding.obstacle)


class _Legend(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._theme = LIGHT
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(100 * GRID, 6 * GRID)

    def apply_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            draw_legend(painter, QRectF(self.rect()), self._theme, self.font())


def _summary(tree: BeamTree) -> str:
    winner = tree.nodes[tree.winner]
    return (
        f"beam {tree.beam} · score = {score_formula(tree.alpha, tree.penalty, '|Y|')} · winner: "
        f"log P {signed(winner.log_probability)}, score {signed(winner.score or 0.0)}, "
        f"{counted(winner.step + 1, 'token')}"
    )


def _label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    set_role(label, role)
    return label
