"""Positions."""

from transformer_viz.session import Session
from transformer_viz.views.stage_view import StageView
from transformer_viz.what_if import WhatIf


class Positions(StageView):
    def __init__(self, session: Session, what_if: WhatIf) -> None:
        super().__init__(session)
        self._what_if = what_if

    def refresh(self) -> None:
        pass
