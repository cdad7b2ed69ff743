from __future__ import annotations

import pytest

from core.training.schedule import learning_rate


def base(update: int) -> float:
    return learning_rate(update, d_model=512, warmup=4000)


def test_the_paper_peaks_at_seven_ten_thousandths() -> None:
    assert base(4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert base(4000) == pytest.approx(6.99e-4, rel=1e-3)
    assert base(3999) < base(4000) > base(4001)


def test_the_first_update_is_not_zero_and_the_rise_is_linear() -> None:
    assert base(1) == pytest.approx(base(4000) / 4000)
    assert base(1000) == pytest.approx(base(4000) / 4)


def test_the_decay_is_an_inverse_square_root() -> None:
    assert base(16_000) == pytest.approx(base(4000) / 2)


def test_no_warmup_is_pure_decay() -> None:
    rates = [learning_rate(update, d_model=64, warmup=0) for update in (1, 4, 100)]
    assert rates == pytest.approx([1 / 8, 1 / 16, 1 / 80])


def test_the_factor_scales_all() -> None:
    half = learning_rate(7, d_model=512, warmup=4000, factor=0.5)
    assert half == pytest.approx(base(7) / 2)


def test_cooldown_falls_linearly_to_zero_after_the_last_update() -> None:
    rates = [
        learning_rate(update, d_model=4, warmup=2, total=100, cooldown=0.2)
        for update in range(1, 101)
    ]
    start = 0.5 * 80**-0.5
    assert rates[78] == pytest.approx(0.5 * 79**-0.5)
    assert rates[79] == pytest.approx(start)
    assert rates[79:] == pytest.approx([start * (21 - k) / 21 for k in range(21)])
    assert learning_rate(101, d_model=4, warmup=2, total=100, cooldown=0.2) == 0.0


@pytest.mark.parametrize("done", [4_000, 9_000, 20_150])
def test_a_cooldown_can_begin_wherever_a_run_is_stopped(done: int) -> None:
    """``resume RUN --steps`` done / (1 - cooldown): no jump, and zero at the new end."""
    total = round(done / 0.8)

    def rate(update: int) -> float:
        return learning_rate(update, d_model=256, warmup=2_000, total=total, cooldown=0.2)

    before = learning_rate(done, d_model=256, warmup=2_000)
    assert rate(done) == pytest.approx(before)
    assert rate(done + 1) == pytest.approx(before, rel=0.01)
    assert rate(done + 1) < before
    assert rate(total) == pytest.approx(before / (total + 1 - done))


def test_updates_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="from 1"):
        base(0)
