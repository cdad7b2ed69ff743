"""What a model brings into the window: a search of its own, and languages that a text names."""

from transformer_viz.state.languages import asked_for, fitted
from transformer_viz.state.session import ModelInfo, Search
from transformer_viz.state.settings import MAX_ALPHA, MAX_BEAM


class ModelHabits:
    """Remembers what was set before a model brought its own.

    Attributes:
        language: the token chosen last, such as ">>deu<<".
    """

    def __init__(self) -> None:
        self.language = ""
        self._own_search: Search | None = None

    def search(self, model: ModelInfo, now: Search) -> Search:
        """What a model that is opened starts with: the search that it brings along, else the one
        that was set before another brought its own, else the one in use."""
        if model.search is None:
            own, self._own_search = self._own_search, None
            return own or now
        self._own_search = self._own_search or now
        return Search(min(model.search.beam, MAX_BEAM), min(model.search.alpha, MAX_ALPHA))

    def text(self, text: str, model: ModelInfo | None, before: ModelInfo | None = None) -> str:
        """The text, asking for a language that the model has; `before`: the model that it was
        for."""
        return fitted(text, _languages(model), _languages(before), self.language)

    def sentence(self, text: str, shown: str, model: ModelInfo | None) -> str:
        """A sentence from elsewhere, in the place of the one shown and in its language."""
        return fitted(text, _languages(model), (), asked_for(shown) or self.language)


def _languages(model: ModelInfo | None) -> tuple[str, ...]:
    return () if model is None else model.languages
