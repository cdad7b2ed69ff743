"""A second trace beside the session's: another sentence, or another model on the same one."""

from PySide6.QtCore import QObject

from transformer_viz.engine import Engine
from transformer_viz.session import Session


class Comparison(QObject):
    def __init__(self, session: Session, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
