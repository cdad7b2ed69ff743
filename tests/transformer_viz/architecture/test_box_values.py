"""The numbers in the boxes against each other: the trace and the states are separate records."""

from pathlib import Path

import numpy as np
import pytest

from core.heads import AttentionKind, Head
from core.trace.trace import Trace
from tests.transformer_viz.models import save_tiny_model
from transformer_viz.architecture.box_values import BoxValues, box_values, side_of
from transformer_viz.engine.backend import TorchBackend
from transformer_viz.engine.recorded_states import Recorded
from transformer_viz.engine.worker import Context
from transformer_viz.state.linking import Place
from transformer_viz.state.session import Search

CONTEXT = Context(stale=lambda: False, report=lambda text: None)


class Pass:
    """A recorded pass of a small model, and what its boxes hold."""

    def __init__(self, path: Path, norm: str) -> None:
        backend = TorchBackend(1)
        backend.load(save_tiny_model(path, norm=norm), CONTEXT)
        self.trace: Trace = backend.explain(
            "The animal slept.", Search(), CONTEXT, target="Das Tier schlief."
        )
        n, m = len(self.trace.source_tokens), len(self.trace.target_tokens)
        states = backend.states(self.trace, range(n), range(m), CONTEXT)
        self.recorded = Recorded(self.trace, states)

    def of(self, name: str, index: int = 2, head: Head | None = None) -> BoxValues:
        place = Place(side_of(name), index)
        found = box_values(name, self.trace, self.recorded, place, head)
        assert found is not None
        return found


@pytest.fixture(scope="module", params=["post", "pre"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pass:
    return Pass(tmp_path_factory.mktemp("model") / "tiny.safetensors", request.param)


def test_a_sum_is_what_enters_plus_what_the_block_adds(recorded: Pass) -> None:
    entering = recorded.of("source_positions").vector
    added = recorded.of("encoder.0.self_attention").vector
    total = recorded.of("encoder.0.self_attention_residual.add").vector
    np.testing.assert_allclose(total, entering + added, atol=1e-6)
    np.testing.assert_array_equal(recorded.of("encoder.0.self_attention.output").vector, added)


def test_a_norm_has_no_mean_and_the_variance_one(recorded: Pass) -> None:
    normed = recorded.of("decoder.1.feed_forward_residual.norm").vector
    assert normed.mean() == pytest.approx(0, abs=1e-5)  # gain 1 and bias 0: the model is untrained
    assert normed.var() == pytest.approx(1, abs=1e-2)


def test_the_steps_of_a_head_follow_from_each_other(recorded: Pass) -> None:
    head = Head(AttentionKind.DECODER_SELF, 1, 2)  # width 4
    block = "decoder.1.self_attention"
    query = recorded.of(f"{block}.query").vector[8:12]
    keys = [recorded.of(f"{block}.key", i).vector[8:12] for i in range(5)]
    values = np.array([recorded.of(f"{block}.value", i).vector[8:12] for i in range(5)])
    products = recorded.of(f"{block}.matmul", head=head).vector
    np.testing.assert_allclose(products[:5], [query @ key for key in keys], atol=1e-5)
    scaled = recorded.of(f"{block}.scale", head=head).vector
    np.testing.assert_allclose(scaled, products / 2, atol=1e-6)
    masked = recorded.of(f"{block}.mask", head=head)
    np.testing.assert_array_equal(masked.vector[:3], scaled[:3])
    assert (masked.vector[3:] == -np.inf).all()
    assert len(masked.numbers) == 3
    weights = recorded.of(f"{block}.softmax", head=head)
    exponentials = np.exp(scaled[:3])
    np.testing.assert_allclose(weights.numbers, exponentials / exponentials.sum(), atol=1e-6)
    assert np.isnan(weights.vector[3:]).all(), "a masked weight is no zero"
    output = recorded.of(f"{block}.attend", head=head).vector
    np.testing.assert_allclose(output, weights.numbers @ values[:3], atol=1e-5)
    beside = recorded.of(f"{block}.concat").vector  # from the states, not from the trace
    np.testing.assert_allclose(beside[8:12], output, atol=1e-5)


def test_keys_and_values_of_cross_attention_are_those_of_a_source_token(recorded: Pass) -> None:
    block = "decoder.0.cross_attention"
    assert side_of(f"{block}.key") == side_of(f"{block}.value") == "source"
    assert side_of(f"{block}.query") == side_of(block) == "target"
    head = Head(AttentionKind.CROSS, 0, 0)
    query = recorded.of(f"{block}.query").vector[:4]
    last = len(recorded.trace.source_tokens) - 1
    key = recorded.of(f"{block}.key", last).vector[:4]
    products = recorded.of(f"{block}.matmul", head=head).vector
    assert products[last] == pytest.approx(query @ key, abs=1e-5)
    assert np.isfinite(recorded.of(f"{block}.softmax", head=head).vector).all()


def test_the_top_of_a_layer_is_the_bottom_of_the_next(recorded: Pass) -> None:
    below = recorded.of("decoder.0").vector
    added = recorded.of("decoder.1.self_attention").vector
    total = recorded.of("decoder.1.self_attention_residual.add").vector
    np.testing.assert_allclose(total - added, below, atol=1e-5)


def test_the_norm_is_that_of_the_finite_numbers(recorded: Pass) -> None:
    found = recorded.of("encoder.1.feed_forward.activation")
    assert found.norm == pytest.approx(float(np.sqrt((found.vector.astype(float) ** 2).sum())))
    assert len(found.vector) == 32


def test_what_is_not_recorded_is_none(recorded: Pass) -> None:
    nowhere = Place("source", 10_000)
    assert box_values("encoder.0", recorded.trace, recorded.recorded, nowhere, None) is None
    here = Place("target", 0)
    for name in ("decoder.0.feed_forward.inner", "output_embedding", "probabilities"):
        assert box_values(name, recorded.trace, recorded.recorded, here, None) is None
