from __future__ import annotations

import signal

import pytest

from core.system import stop_signals
from core.training.signals import StopRequest


@pytest.mark.parametrize("number", stop_signals())
def test_the_first_signal_is_noted_and_the_second_acts(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    acted: list[int] = []
    signal.signal(number, lambda received, _: acted.append(received))
    try:
        with StopRequest() as should_stop:
            assert not should_stop()
            signal.raise_signal(number)
            assert should_stop()
            assert not acted
            signal.raise_signal(number)
            assert acted == [number]
    finally:
        signal.signal(number, before)


def test_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in stop_signals()]
    with StopRequest() as should_stop:
        pass
    assert [signal.getsignal(number) for number in stop_signals()] == before
    assert not should_stop()
