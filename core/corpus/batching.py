"""Which pairs train together: batches of similar length that fit a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Lengths = Sequence[int] | npt.NDArray[np.signedinteger]


def plan_batches(
    source_lengths: Lengths,
    target_lengths: Lengths,
    *,
    source_budget: int,
    target_budget: int,
    seed: int,
    epoch: int,
) -> list[npt.NDArray[np.int64]]:
    """Every pair once, in batches of similar length (paper, section 5.1), in random order.

    Pairs are sorted by length, equal ones shuffled, and cut where a batch, padding included, would
    pass a budget: rows × longest source ≤ ``source_budget`` and the same for targets. Which pairs
    of a length meet and the order of the batches follow from ``seed + epoch`` alone.

    Args:
        source_lengths, target_lengths: tokens of each pair, 1 or more with its special tokens.
        source_budget, target_budget: tokens in a batch, padding included.

    Returns:
        for each batch the indices of its pairs.

    Raises:
        ValueError: a single pair passes a budget, or the lengths differ in number.
    """
    source = np.asarray(source_lengths, dtype=np.int64)
    target = np.asarray(target_lengths, dtype=np.int64)
    if source.shape != target.shape:
        raise ValueError(f"{source.size} source lengths, {target.size} target lengths")
    if source.size == 0:
        return []
    if source.max() > source_budget or target.max() > target_budget:
        raise ValueError(
            f"the longest pair has {source.max()} source and {target.max()} target tokens; "
            f"budgets are {source_budget} and {target_budget}"
        )
    random = np.random.default_rng((seed + epoch) % 2**63)
    order = np.lexsort((random.random(source.size), source, target))
    cuts = _cuts(source[order], target[order], source_budget, target_budget)
    batches = np.split(order, cuts)
    return [batches[index] for index in random.permutation(len(batches))]


def _cuts(
    source: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    source_budget: int,
    target_budget: int,
) -> list[int]:
    """Where in the sorted order a new batch begins; targets ascend."""
    cuts = []
    start = 0
    while start < len(source):
        most = min(source_budget // source[start], target_budget // target[start])
        longest_target = target[start : start + most]
        longest_source = np.maximum.accumulate(source[start : start + most])
        rows = np.arange(1, len(longest_source) + 1)
        fits = (rows * longest_source <= source_budget) & (rows * longest_target <= target_budget)
        start += int(np.count_nonzero(fits))
        cuts.append(start)
    return cuts[:-1]
