"""The user's sentence with more and more inserted words, to see what reaches over them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from transformer_viz.engine.engine import Engine
from transformer_viz.state.languages import TRAINED, UNKNOWN, sides
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Session

LANE = "stretch"
MOST_WORDS = 64
"""The most that `core.corpus.grammar.stretch` inserts."""


class Stretching(QObject):
    """While `words` is not 0, the session shows `own` with this many words inserted into the
    sentence shown.

    `restore` brings back the user's own text. Editing it, another sentence of it or opening
    something else ends it too, and that stays.

    Attributes:
        own: the text as the user wrote it, while it is stretched.
        words: how many are inserted, or will be as soon as they arrive.
        moving: whether the text that changes right now is changed from here.
        problem: why no words can be inserted, in one sentence.
    """

    changed = Signal()  # any of these

    def __init__(
        self,
        session: Session,
        engine: Engine,
        show: Callable[[str, Selection | None], None],
        from_file: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        """Follow the session.

        `show`: puts a text in place of the one shown and translates the sentence at the same place,
        with a selection or with what is selected now; `from_file`: whether what is shown was read
        from a file, so that it could not be brought back.
        """
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._show_text = show
        self._from_file = from_file
        self.own: str | None = None
        self._passage, self._index = session.passage, session.index  # of it
        self._selection = session.selection  # in the own sentence
        self.words = 0
        self.moving = False
        self.problem = ""
        session.passageChanged.connect(self._on_passage)

    @property
    def active(self) -> bool:
        return self.own is not None

    @property
    def obstacle(self) -> str:
        """The reason why no words can be inserted now, in one sentence."""
        model = self._session.model
        if model is None:
            return "Open a model to insert words."
        if not self._session.text.strip():
            return "There is no sentence to insert words into."
        if self._from_file():
            return "This trace comes from a file; edit the text to translate it again."
        language = sides(model).source
        if language not in (TRAINED.source, UNKNOWN.source):
            return f"Only English words can be inserted; this model reads {language}."
        return ""

    def stretch(self, words: int) -> None:
        """Insert so many words, in place of those inserted before; 0 restores the user's own
        sentence."""
        words = max(0, min(words, MOST_WORDS))
        if words == self.words:
            return
        if words == 0:
            self.restore()
            return
        session = self._session
        if self.own is None:
            self._selection = session.selection
            self._passage, self._index = session.passage, session.index
        passage, index = self._passage, self._index
        self.own, self.words, self.problem = passage.text, words, ""
        self._engine.ask(
            LANE,
            lambda backend, context: backend.stretch(passage.sentence(index), words, context),
            done=lambda stretched: self._show(passage.with_sentence(index, stretched)),
            failed=self._fail,
        )
        self.changed.emit()

    def restore(self) -> None:
        """Restore the user's own sentence, with what is selected now on the words that it has
        too."""
        own = self.own
        if own is not None:
            self._leave()
            self._show(own)

    def close(self) -> None:
        """Restore the user's own sentence with what was selected before: there is no time to look
        for it."""
        own = self.own
        if own is not None:
            self._leave()
            self._show(own, self._selection)

    def _show(self, text: str, selection: Selection | None = None) -> None:
        self.moving = True
        try:
            self._show_text(text, selection)
        finally:
            self.moving = False

    def _fail(self, problem: str) -> None:
        self.restore()
        self.problem = problem
        self.changed.emit()

    def _on_passage(self) -> None:
        if not self.moving and self.active:
            self._leave()

    def _leave(self) -> None:
        self._engine.cancel(LANE)
        self.own, self.words, self.problem = None, 0, ""
        self.changed.emit()
