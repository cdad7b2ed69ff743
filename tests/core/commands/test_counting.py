from __future__ import annotations

import io
import json

from core.commands.counting import Counting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_as_json_a_line_now_and_then_and_one_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    count = Counting(10, stream, as_json=True, clock=clock)
    count(1)
    clock.now += 2
    count(4)
    clock.now += 0.1
    count(10)
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == [
        {"done": 4, "total": 10, "seconds_left": 3.0},
        {"done": 10, "total": 10, "seconds_left": 0.0},
    ]


def test_a_terminal_has_a_bar_that_goes_when_all_is_done() -> None:
    stream, clock = Terminal(), Clock()
    count = Counting(1_000, stream, as_json=False, clock=clock)
    clock.now += 5
    count(500)
    assert stream.getvalue() == f"\r{'█' * 10}{'░' * 10} 500/1,000  5 s left\x1b[K"
    count(1_000)
    assert stream.getvalue().endswith("\r\x1b[K")


def test_a_file_has_few_lines() -> None:
    stream, clock = io.StringIO(), Clock()
    count = Counting(100, stream, as_json=False, clock=clock)
    for done in range(1, 101):
        clock.now += 1
        count(done)
    assert len(stream.getvalue().splitlines()) == 6
    assert "\r" not in stream.getvalue()


def test_what_was_done_before_takes_no_time() -> None:
    stream, clock = io.StringIO(), Clock()
    count = Counting(100, stream, as_json=True, begin=50, clock=clock)
    clock.now += 5
    count(60)
    assert json.loads(stream.getvalue())["seconds_left"] == 20.0


def test_a_total_that_nobody_knows() -> None:
    stream, clock = Terminal(), Clock()
    count = Counting(None, stream, as_json=False, show=lambda number: f"{number} B", clock=clock)
    clock.now += 1
    count(7)
    assert stream.getvalue() == "\r7 B\x1b[K"
    count.end()
    assert stream.getvalue().endswith("\r\x1b[K")
    stream = Terminal()
    count = Counting(None, stream, as_json=True, clock=clock)
    clock.now += 1
    count(7)
    assert json.loads(stream.getvalue()) == {"done": 7, "total": None, "seconds_left": None}
