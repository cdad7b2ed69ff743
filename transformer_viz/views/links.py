"""Links."""

from transformer_viz.views.stage_view import StageView


class Links(StageView):
    def refresh(self) -> None:
        pass
