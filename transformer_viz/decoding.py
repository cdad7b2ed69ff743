"""Decoding by hand: the hypotheses beside each other, and the beam search as a tree."""

from PySide6.QtCore import QObject

from transformer_viz.engine import Engine
from transformer_viz.session import Session


class Decoding(QObject):
    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
