from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, Signal

from core.switches import Switches
from core.trace.trace import Trace
from transformer_viz.state.session import Session
from transformer_viz.translation.doubt_line import ABOUT, LEGEND, UNMASKED_LEGEND, DoubtLine


class Desk(QObject):
    changed = Signal()
    verdict = ""
    is_bad = False

    def say(self, verdict: str, *, bad: bool) -> None:
        self.verdict, self.is_bad = verdict, bad
        self.changed.emit()


@pytest.fixture
def desk(qapp) -> Desk:
    return Desk()


@pytest.fixture
def line(session: Session, desk: Desk, show) -> DoubtLine:
    return show(DoubtLine(session, desk), 1100, 20)


def test_it_says_what_speaks_against_the_translation(desk: Desk, line: DoubtLine) -> None:
    desk.say("Probably wrong: 3 of 9 words are guesses.", bad=True)
    assert line.verdict.text() == "Probably wrong: 3 of 9 words are guesses."
    assert line.verdict.accessibleName() == line.verdict.text()
    assert line.verdict.property("role") == "warning"
    desk.say("1 of 9 words is a guess.", bad=False)
    assert line.verdict.property("role") == "soft"


def test_nothing_moves_when_a_doubt_comes(desk: Desk, line: DoubtLine) -> None:
    before = line.sizeHint().height()
    desk.say("Probably wrong: 3 of 9 words are guesses.", bad=True)
    assert line.sizeHint().height() == before > 0


def test_the_marks_are_named(line: DoubtLine) -> None:
    assert line.legend.text() == LEGEND
    assert "given source and previous tokens" in LEGEND
    for part in ABOUT.splitlines():
        assert part in line.toolTip()


def test_without_the_mask_a_bar_is_the_probability_of_an_answer_that_was_seen(
    session: Session, line: DoubtLine, trace: Trace
) -> None:
    session.set_trace(replace(trace, switches=Switches(mask=False)))
    assert line.legend.text() == UNMASKED_LEGEND
    session.set_trace(trace)
    assert line.legend.text() == LEGEND
