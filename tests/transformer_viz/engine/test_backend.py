from __future__ import annotations

from pathlib import Path

import pytest

from core.bundled import bundled_models
from core.model.transformer import Transformer
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.worker import Context
from transformer_viz.state.session import Search

SENTENCE = "The animal didn't cross the street because it was too tired."
GREEDY = Search(1, 0.6)


def context() -> Context:
    return Context(stale=lambda: False, report=lambda text: None)


@pytest.fixture
def backend() -> TorchBackend:
    one = TorchBackend(threads=1)
    one.load(Path(bundled_models()[0]), context())
    return one


def test_a_translation_does_not_depend_on_what_was_typed_before(backend: TorchBackend) -> None:
    ends = [SENTENCE[:end] for end in (25, 40, 41, 42, 55, 59, 60, 59, 30)]
    for text in [*ends, f"Yes, {SENTENCE}", "Hello.", SENTENCE]:
        found = backend.explain(text, GREEDY, context())
        backend.load(Path(bundled_models()[0]), context())
        expected = backend.explain(text, GREEDY, context())
        assert found.predicted_tokens == expected.predicted_tokens
        assert found.log_probabilities is not None
        assert found.log_probabilities.tolist() == expected.log_probabilities.tolist()


def test_an_edit_at_the_end_does_not_search_again_for_what_stays(
    backend: TorchBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[object] = []
    step = Transformer.step
    monkeypatch.setattr(Transformer, "step", lambda *given: steps.append(given) or step(*given))
    first = backend.explain(SENTENCE, GREEDY, context())
    assert len(steps) == len(first.predicted_tokens)
    steps.clear()
    again = backend.explain(SENTENCE[:-1], GREEDY, context())
    assert len(steps) < len(again.predicted_tokens) / 2
    steps.clear()
    other = backend.explain("Hello.", GREEDY, context())
    assert len(steps) == len(other.predicted_tokens)
