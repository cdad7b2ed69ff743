import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from transformer_viz.engine.worker import Context, Worker


class Recorder:
    """Hands jobs to a worker and writes down all that comes back."""

    def __init__(self) -> None:
        self.worker = Worker("test", ("load", "explain"))
        self.ran: list[str] = []
        self.events: list[tuple[str, str]] = []
        self.threads: set[int] = set()
        self.started = threading.Event()
        self.gate = threading.Event()

    def submit(self, name: str, *, lane: str = "explain", blocks: bool = False) -> None:
        def run(context: Context) -> str:
            self.ran.append(name)
            context.report(f"{name} runs")
            if blocks:
                self.started.set()
                self.gate.wait(10)
            return name

        self._submit(lane, run)

    def submit_raising(self, error: Exception) -> None:
        def run(_context: Context) -> str:
            raise error

        self._submit("explain", run)

    def submit_polling(self) -> None:
        """A job that ends only when it is told to stop."""

        def run(context: Context) -> str:
            self.started.set()
            while True:
                context.check()

        self._submit("explain", run)

    def _submit(self, lane: str, run: object) -> None:
        def note(kind: str, value: object) -> None:
            self.threads.add(threading.get_ident())
            self.events.append((kind, str(value)))

        self.worker.submit(
            lane,
            run,  # type: ignore[arg-type]
            done=lambda value: note("done", value),
            failed=lambda error: note("failed", error),
            progress=lambda text: note("progress", text),
        )


@pytest.fixture
def recorder(qapp: object) -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.gate.set()
    assert made.worker.close(10)


def test_a_result_arrives_in_the_thread_of_the_owner(recorder: Recorder, qtbot: QtBot) -> None:
    recorder.submit("one")
    qtbot.waitUntil(lambda: len(recorder.events) == 2)
    assert recorder.events == [("progress", "one runs"), ("done", "one")]
    assert recorder.threads == {threading.get_ident()}


def test_of_many_waiting_jobs_only_the_newest_runs(recorder: Recorder, qtbot: QtBot) -> None:
    recorder.submit("slow", blocks=True)
    assert recorder.started.wait(10)
    for number in range(50):
        recorder.submit(f"typed {number}")
    recorder.gate.set()
    qtbot.waitUntil(lambda: ("done", "typed 49") in recorder.events)
    assert recorder.ran == ["slow", "typed 49"]
    assert ("done", "slow") not in recorder.events


def test_a_result_already_on_its_way_is_dropped_when_newer_is_asked(
    recorder: Recorder, qtbot: QtBot
) -> None:
    recorder.submit("old")
    finished = threading.Event()
    recorder.worker.submit(
        "load",
        lambda _context: finished.set(),
        done=lambda _value: None,
        failed=lambda _error: None,
        progress=lambda _text: None,
    )
    assert finished.wait(10)  # "old" may lie in the event queue by now, undelivered
    recorder.submit("new")
    qtbot.waitUntil(lambda: ("done", "new") in recorder.events)
    assert ("done", "old") not in recorder.events


def test_lanes_do_not_replace_each_other_and_keep_their_order(
    recorder: Recorder, qtbot: QtBot
) -> None:
    recorder.submit("busy", blocks=True)
    assert recorder.started.wait(10)
    recorder.submit("sentence")
    recorder.submit("model", lane="load")
    recorder.gate.set()
    qtbot.waitUntil(lambda: ("done", "sentence") in recorder.events)
    assert recorder.ran == ["busy", "model", "sentence"]


def test_an_error_is_delivered_and_the_thread_lives_on(recorder: Recorder, qtbot: QtBot) -> None:
    recorder.submit_raising(ValueError("no such luck"))
    qtbot.waitUntil(lambda: bool(recorder.events))
    assert recorder.events == [("failed", "no such luck")]
    recorder.submit("next")
    qtbot.waitUntil(lambda: ("done", "next") in recorder.events)


def test_a_running_job_is_told_that_a_newer_one_waits(recorder: Recorder, qtbot: QtBot) -> None:
    recorder.submit_polling()
    assert recorder.started.wait(10)
    recorder.submit("next")
    qtbot.waitUntil(lambda: ("done", "next") in recorder.events)
    assert recorder.events == [("progress", "next runs"), ("done", "next")]


def test_closing_stops_the_running_job_and_ends_the_thread(qtbot: QtBot) -> None:
    recorder = Recorder()
    recorder.submit_polling()
    assert recorder.started.wait(10)
    recorder.submit("never")
    assert recorder.worker.close(10)
    assert "test" not in {thread.name for thread in threading.enumerate()}
    assert recorder.events == []


def test_a_cancelled_lane_delivers_nothing(recorder: Recorder, qtbot: QtBot) -> None:
    recorder.submit("slow", blocks=True)
    assert recorder.started.wait(10)
    recorder.submit("waiting")
    recorder.worker.cancel("explain")
    recorder.gate.set()
    recorder.submit("model", lane="load")
    qtbot.waitUntil(lambda: ("done", "model") in recorder.events)
    assert recorder.ran == ["slow", "model"]
    assert ("done", "slow") not in recorder.events
