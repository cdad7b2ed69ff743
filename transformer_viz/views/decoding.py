"""DecodingView."""

from transformer_viz.decoding import Decoding
from transformer_viz.session import Session
from transformer_viz.views.stage_view import StageView


class DecodingView(StageView):
    def __init__(self, session: Session, decoding: Decoding) -> None:
        super().__init__(session)
        self._decoding = decoding

    def refresh(self) -> None:
        pass
