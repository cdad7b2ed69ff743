"""Scores."""

from transformer_viz.views.stage_view import StageView


class Scores(StageView):
    def refresh(self) -> None:
        pass
