"""The learning rate as a pure function of the update."""

from __future__ import annotations


def learning_rate(
    update: int,
    *,
    d_model: int,
    warmup: int,
    factor: float = 1.0,
    total: int | None = None,
    cooldown: float = 0.0,
) -> float:
    """Return factor · d_model^-0.5 · min(update^-0.5, update · warmup^-1.5) (paper, section 5.3).

    Args:
        update: the number of this update, counted from 1 and only if it is applied.
        warmup: updates of linear rise; 0 leaves the pure decay from the first update on.
        factor: 1 is the paper's; the peak, at ``update == warmup``, is
            factor · d_model^-0.5 · warmup^-0.5.
        total: the number of updates the run will have; None for no end, hence no cool-down.
        cooldown: the last share of ``total`` in which the rate falls linearly, reaching zero one
            update after the last.

    Raises:
        ValueError: ``update`` is below 1.
    """
    if update < 1:
        raise ValueError(f"updates are counted from 1, not {update}")
    if total is not None and cooldown > 0.0:
        start = max(1, round(total * (1.0 - cooldown)))
        if update > start:
            left = max(0, total + 1 - update) / (total + 1 - start)
            return left * _inverse_square_root(start, d_model, warmup, factor)
    return _inverse_square_root(update, d_model, warmup, factor)


def _inverse_square_root(update: int, d_model: int, warmup: int, factor: float) -> float:
    decay: float = update**-0.5
    rise: float = update * warmup**-1.5 if warmup else decay
    scale: float = factor * d_model**-0.5
    return scale * min(decay, rise)
