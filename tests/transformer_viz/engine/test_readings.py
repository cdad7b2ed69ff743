"""What the backend reads in the states that it recorded."""

from pathlib import Path

import numpy as np
import pytest

from core.heads import AttentionKind
from tests.transformer_viz.models import save_tiny_model
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.worker import Context, Stopped
from transformer_viz.state.session import Search

CONTEXT = Context(stale=lambda: False, report=lambda text: None)


def test_the_lens_ends_in_the_traces_probabilities_and_the_parts_in_the_logit(
    tmp_path: Path,
) -> None:
    backend = TorchBackend(threads=1)
    backend.load(save_tiny_model(tmp_path / "tiny.safetensors"), CONTEXT)
    trace = backend.explain("The animal didn't cross the street.", Search(), CONTEXT)
    states = backend.states(trace, range(2), range(1, 4), CONTEXT)
    lens = backend.lens(trace, states, CONTEXT)
    assert lens.positions == (1, 2, 3)
    np.testing.assert_allclose(
        np.log(lens.lens.predicted[-1]), trace.log_probabilities[1:4], atol=1e-3
    )
    for row in range(3):
        word, probability = lens.best(3, row)
        assert word == trace.predicted_tokens[row + 1], "greedy search takes the first"
        assert probability == pytest.approx(float(lens.lens.predicted[-1, row]))
    heads = [head for head in trace.every_head(AttentionKind.CROSS) if head.layer == 1][:2]
    pushes = backend.pushes(trace, states, 0, heads, CONTEXT)
    assert pushes.word == trace.predicted_tokens[1]
    assert pushes.contributions.sum() == pytest.approx(pushes.logit, rel=1e-4, abs=1e-4)
    above = pushes.logit - pushes.means.sum()
    assert pushes.above_mean.sum() == pytest.approx(above, rel=1e-4, abs=1e-4)
    assert len(pushes.up) == len(pushes.down) == 5
    assert pushes.up[0].change > 0 > pushes.down[0].change
    with pytest.raises(Stopped):
        backend.states(trace, (), (), Context(stale=lambda: True, report=lambda text: None))
