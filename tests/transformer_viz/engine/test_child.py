"""A real process that is listened to."""

from __future__ import annotations

import os
import sys

import pytest
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment
from pytestqt.qtbot import QtBot

from transformer_viz.engine import child as module
from transformer_viz.engine.child import Child, failure


def speaking(code: str) -> QProcess:
    process = QProcess()
    process.setProgram(sys.executable)
    process.setArguments(["-c", f"import os, sys, time\n{code}"])
    process.setProcessEnvironment(QProcessEnvironment.systemEnvironment())
    return process


@pytest.fixture
def child(qapp: QObject, monkeypatch: pytest.MonkeyPatch) -> Child:
    """Whatever it is asked runs as Python."""
    monkeypatch.setattr(module, "child", lambda arguments: speaking(arguments[0]))
    return Child(parse=str)


def test_lines_come_whole_and_none_is_left_out(child: Child, qtbot: QtBot) -> None:
    heard: list[str] = []
    child.progressed.connect(heard.append)
    long = "x" * 200_000  # more than a pipe holds
    with qtbot.waitSignal(child.finished) as finished:
        child.run(
            [
                f"sys.stderr.write('first\\nsec'); sys.stderr.flush(); time.sleep(0.2)\n"
                f"sys.stderr.write('ond\\n' + 'x' * {len(long)} + '\\nlast\\n'); print('done')"
            ]
        )
    assert heard == ["first", "second", long, "last"]
    assert finished.args == ["done\n"]


def test_its_threads_do_not_spin_unless_they_are_told_to(
    child: Child, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for told, expected in ((None, "PASSIVE"), ("ACTIVE", "ACTIVE")):
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        if told:
            monkeypatch.setenv("OMP_WAIT_POLICY", told)
        with qtbot.waitSignal(child.finished) as finished:
            child.run(["print(os.environ['OMP_WAIT_POLICY'])"])
        assert finished.args == [f"{expected}\n"]


def test_nothing_comes_after_it_is_cancelled(child: Child, qtbot: QtBot) -> None:
    heard: list[str] = []

    def cancel(line: str) -> None:
        heard.append(line)
        child.cancel()

    child.progressed.connect(cancel)
    child.run(["sys.stderr.write('first\\nsecond\\n'); sys.stderr.flush(); time.sleep(20)"])
    qtbot.waitUntil(lambda: bool(heard))
    assert not child.running
    assert heard == ["first"]


def test_a_failure_is_told_in_its_sentence(child: Child, qtbot: QtBot) -> None:
    with qtbot.waitSignal(child.failed) as failed:
        child.run(["sys.exit('{}\\ntransformer-viz distance: There is no model.')"])
    assert failed.args == ["There is no model."]
    with qtbot.waitSignal(child.failed) as failed:
        child.run(["""sys.exit('{"done": 1, "total": 9, "seconds_left": 8.0}')"""])
    assert failed.args == [failure("")]


def test_a_cancelled_process_goes_and_nobody_waits_for_it(child: Child, qtbot: QtBot) -> None:
    with qtbot.waitSignal(child.progressed) as said:
        child.run(["print(os.getpid(), file=sys.stderr, flush=True); time.sleep(60)"])
    (process,) = child.findChildren(QProcess)
    child.cancel()
    assert not child.running
    with qtbot.waitSignal(process.destroyed):
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(int(said.args[0]), 0)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="this system has no niceness")
@pytest.mark.parametrize("polite", [True, False])
def test_a_polite_process_lets_others_go_first(child: Child, qtbot: QtBot, polite: bool) -> None:
    child = Child(parse=str, polite=polite)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with qtbot.waitSignal(child.finished) as finished:
        child.run(["time.sleep(0.2); print(os.getpriority(os.PRIO_PROCESS, 0))"])
    assert int(finished.args[0]) == (max(own, module._POLITE) if polite else own)


def test_an_answer_that_cannot_be_parsed_is_a_failure(child: Child, qtbot: QtBot) -> None:
    strict = Child()
    with qtbot.waitSignal(strict.failed) as failed:
        strict.run(["print('a warning of some library\\n{}')"])
    assert "unreadable answer" in failed.args[0]
    assert not strict.running


def test_nothing_comes_if_the_last_line_gives_it_up(child: Child, qtbot: QtBot) -> None:
    ends: list[object] = []
    changes: list[bool] = []
    child.finished.connect(ends.append)
    child.failed.connect(ends.append)
    child.runningChanged.connect(changes.append)
    child.progressed.connect(lambda _line: child.cancel())
    child.run(["sys.stderr.write('last\\n'); print('done')"])
    (process,) = child.findChildren(QProcess)
    with qtbot.waitSignal(process.destroyed):
        pass
    assert (ends, changes) == ([], [True, False])
