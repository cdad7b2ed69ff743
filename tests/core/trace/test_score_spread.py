"""The spread of q · k has a closed form, and the softmax's gradient torch's own."""

import numpy as np
import pytest
import torch

from core.trace.score_spread import sample_spread, softmax_gradient


@pytest.mark.parametrize("d_k", [1, 8, 64, 512])
def test_the_spread_grows_with_the_root_of_the_width(d_k):
    sums = sample_spread(d_k, 0).sums
    assert sums.mean() == pytest.approx(0, abs=0.1 * np.sqrt(d_k))
    assert sums.std() == pytest.approx(np.sqrt(d_k), rel=0.1)


def test_a_seed_repeats_its_sample_and_another_draws_anew():
    one, again, other = (sample_spread(8, seed).sums for seed in (3, 3, 4))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_scaling_divides_the_scores_of_the_same_row_by_the_root():
    spread = sample_spread(64, 0)
    np.testing.assert_allclose(spread.unscaled.scores, 8 * spread.scaled.scores)
    assert spread.unscaled.entropy < spread.scaled.entropy
    assert softmax_gradient(spread.unscaled.weights) < softmax_gradient(spread.scaled.weights)


@pytest.mark.parametrize("width", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_an_empty_sample_is_refused(width):
    d_k, pairs, keys = width
    with pytest.raises(ValueError, match="at least 1"):
        sample_spread(d_k, 0, pairs=pairs, keys=keys)


def test_the_gradient_is_that_of_torchs_softmax():
    scores = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda row: row.softmax(0), scores)
    assert softmax_gradient(scores.softmax(0).numpy()) == pytest.approx(float(jacobian.norm()))
    assert softmax_gradient(np.array([0.0, 1.0])) == 0
    assert softmax_gradient(np.array([0.5, 0.5])) == pytest.approx(0.5)
