import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject

from transformer_viz.startup.garbage import GarbageCollector


@pytest.fixture
def collector(qapp: object) -> Iterator[GarbageCollector]:
    parent = QObject()
    made = GarbageCollector(parent)
    yield made
    made.stop()
    parent.deleteLater()


class Loop:
    """Knows itself, so only the cycle collector can free it."""

    def __init__(self, freed_in: list[int]) -> None:
        self.itself = self
        self._freed_in = freed_in

    def __del__(self) -> None:
        self._freed_in.append(threading.get_ident())


def test_cycles_made_in_another_thread_are_freed_in_this_one(collector: GarbageCollector) -> None:
    freed_in: list[int] = []

    def work() -> None:
        for _ in range(20_000):
            Loop(freed_in)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert freed_in == []
    collector.collect()
    assert set(freed_in) == {threading.get_ident()}


def test_stopping_gives_the_collector_back(collector: GarbageCollector) -> None:
    assert not gc.isenabled()
    collector.stop()
    assert gc.isenabled()
