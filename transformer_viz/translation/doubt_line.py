"""The line below the translation: what speaks against it, and what the marks on it mean."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from core.trace.doubts import GUESS
from transformer_viz.drawing.theme import GRID
from transformer_viz.state.session import Session
from transformer_viz.translation.doubts import TranslationDoubts
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.style import set_role
from transformer_viz.words.wording import plain_tooltip

LEGEND = f"bar: probability given source and previous tokens · ?: a word below {GUESS:g}"
UNMASKED_LEGEND = "bar: probability given source and all tokens, the answer among them: mask off"
ABOUT = (
    "In the translation\n"
    "bar: the probability of the token, given the source and the tokens before it\n"
    f"dashed, with ?: a guess, a word whose probability is below {GUESS:g}\n"
    "\n"
    "In the source\n"
    "wavy line: never seen in training, or not in the vocabulary\n"
    "dotted line: rarely seen in training, fewer than 20 times\n"
    "struck out: left untranslated, the translation is as probable without it"
)


class DoubtLine(QWidget):
    """A line that always takes its room, so that nothing moves when a doubt comes or goes."""

    def __init__(
        self, session: Session, doubts: TranslationDoubts, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._doubts = doubts
        self.verdict = ElidedLabel("soft")
        self.legend = ElidedLabel("faint")
        self.legend.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setToolTip(plain_tooltip(ABOUT))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4 * GRID)
        row.addWidget(self.verdict, 3)
        row.addWidget(self.legend, 2)
        for changed in (doubts.changed, session.traceChanged):
            changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show what there is to say now."""
        doubts, trace = self._doubts, self._session.trace
        masked = trace is None or trace.switches.mask
        self.legend.setText(LEGEND if masked else UNMASKED_LEGEND)
        if self.verdict.text() != doubts.verdict:
            self.verdict.setText(doubts.verdict)
            announce(self.verdict, doubts.verdict)
            set_role(self.verdict, "warning" if doubts.is_bad else "soft")
