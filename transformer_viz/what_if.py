"""The model's positions, and what the sentence looks like without them or in another order."""

from PySide6.QtCore import QObject

from transformer_viz.engine import Engine
from transformer_viz.session import Session


class WhatIf(QObject):
    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
