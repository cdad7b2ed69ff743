import gc
import threading
import weakref

import pytest
from PySide6.QtCore import QObject

from transformer_viz.engine.stream import Stream


@pytest.fixture
def stream(qapp):
    parent = QObject()
    made = Stream(parent)
    made.got = []
    made.arrived.connect(made.got.append)
    yield made
    made.stop()
    parent.deleteLater()


def test_items_arrive_in_order_in_the_event_loop(qtbot, stream: Stream) -> None:
    threads = set()
    stream.arrived.connect(lambda _item: threads.add(threading.current_thread()))
    with qtbot.waitSignal(stream.finished):
        stream.start(iter(range(100)))
    assert stream.got == list(range(100))
    assert threads == {threading.main_thread()}
    assert not stream.running


def test_the_work_is_done_beside_the_event_loop(qtbot, stream: Stream) -> None:
    def work():
        yield threading.current_thread()

    with qtbot.waitSignal(stream.finished):
        stream.start(work())
    assert stream.got[0] is not threading.main_thread()


def test_a_newer_iterator_takes_the_place_of_an_older(qtbot, stream: Stream) -> None:
    running, release, ended = threading.Event(), threading.Event(), threading.Event()

    def old():
        running.set()
        release.wait(10)
        yield "old"
        ended.set()

    overlapped = []

    def new():
        overlapped.append(not release.is_set())
        yield "new"

    stream.start(old())
    assert running.wait(10)
    stream.start(new())
    release.set()
    qtbot.waitUntil(lambda: not stream.running)
    assert stream.got == ["new"]
    assert overlapped == [False], "one iterator runs at a time"
    assert not ended.is_set(), "the older one stopped at the item it was at"


def test_stopped_is_stopped(qtbot, stream: Stream) -> None:
    stream.start(iter([1, 2, 3]))
    stream.stop()
    qtbot.wait(60)
    assert stream.got == []
    assert not stream.running


def test_an_error_surfaces_in_the_event_loop(qtbot, stream: Stream) -> None:
    def broken():
        yield 1
        raise ZeroDivisionError("in the thread")

    with qtbot.captureExceptions() as errors:
        stream.start(broken())
        qtbot.waitUntil(lambda: not stream.running)
        qtbot.waitUntil(lambda: bool(errors))
    assert stream.got == [1]
    assert errors[0][0] is ZeroDivisionError


def test_a_dropped_stream_ends_its_thread(qtbot) -> None:
    proceed, ended = threading.Event(), threading.Event()

    def endless():
        try:
            while True:
                proceed.wait(10)
                yield None
        finally:
            ended.set()

    parent = QObject()
    stream = Stream(parent)
    alive = weakref.ref(stream)
    stream.start(endless())
    stream.setParent(None)
    del stream
    parent.deleteLater()
    qtbot.waitUntil(lambda: gc.collect() is not None and alive() is None)
    proceed.set()
    assert ended.wait(10)
