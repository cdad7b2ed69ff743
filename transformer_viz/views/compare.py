"""Compare."""

from transformer_viz.comparison import Comparison
from transformer_viz.session import Session
from transformer_viz.views.stage_view import StageView


class Compare(StageView):
    def __init__(self, session: Session, comparison: Comparison) -> None:
        super().__init__(session)
        self._comparison = comparison

    def refresh(self) -> None:
        pass
