from __future__ import annotations

import dataclasses
import io
import json

from core.training.events import Failed, Interrupted, JsonLines, Preparing, Started, Step
from core.training.progress import Progress, duration

STARTED = Started(
    step=0,
    run="run",
    steps=100,
    resumed=False,
    parameters=1_000,
    vocabulary=200,
    pairs_per_epoch=50,
    device="cpu",
    precision="fp32",
    threads=2,
    data=["grammar: 50 new pairs per epoch"],
)


def step(number: int) -> Step:
    return Step(
        step=number,
        epoch=0,
        train_loss=2.5,
        gloss_loss=None,
        learning_rate=0.001,
        gradient_norm=1.0,
        position_cosine=0.2,
        tokens_per_second=1234.5,
        seconds=60.0,
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_how_far_the_preparation_is() -> None:
    terminal = Terminal()
    progress = Progress(terminal, Clock())
    progress(Preparing(step=0, what="reading a.tsv", done=50, total=200))
    assert terminal.getvalue() == "\r" + "█" * 5 + "░" * 15 + "  25%  reading a.tsv\x1b[K"
    progress(Preparing(step=0, what="reading nothing", done=0, total=0))
    assert "   0%  reading nothing" in terminal.getvalue()
    clock = Clock()
    progress = Progress(pipe := io.StringIO(), clock)
    for clock.now in (1.0, 16.0, 17.0):
        progress(Preparing(step=0, what="encoding", done=int(clock.now), total=20))
    progress(Interrupted(step=0, run=None))
    assert [line[-14:] for line in pipe.getvalue().splitlines()] == [
        " 80%  encoding",
        "g was written.",
    ]


def test_what_is_done_again_after_an_unexpected_end() -> None:
    killed = dataclasses.replace(STARTED, step=1_200, resumed=True, unexpected_end=True)
    for event, said in (
        (STARTED, ""),
        (killed, "The run ended unexpectedly. It continues from the state saved after update 1,2"),
        (dataclasses.replace(killed, repeated=34), "Updates 1,201 to 1,234 were logged but not sa"),
        (
            dataclasses.replace(STARTED, odd_lines=1),
            "Ignored 1 invalid line in the run's files.",
        ),
    ):
        Progress(stream := io.StringIO(), Clock())(event)
        assert said in stream.getvalue()
        assert len(stream.getvalue().splitlines()) == (3 if said else 2)


def test_an_event_is_one_line_of_json() -> None:
    stream = io.StringIO()
    write = JsonLines(stream)
    write(step(3))
    write(Failed(step=4, message="über\nzwei Zeilen"))
    lines = stream.getvalue().split("\n")
    assert [json.loads(line)["event"] for line in lines[:-1]] == ["step", "failed"]
    assert json.loads(lines[0])["train_loss"] == 2.5
    assert json.loads(lines[1]) == {
        "event": "failed",
        "step": 4,
        "message": "über\nzwei Zeilen",
    }


def test_a_reader_that_went_away_stops_nothing() -> None:
    class Closed(io.StringIO):
        writes = 0

        def write(self, text: str) -> int:
            Closed.writes += 1
            raise BrokenPipeError

    write = JsonLines(Closed())
    write(step(1))
    write(step(2))
    assert Closed.writes == 1


def test_the_bar_on_a_terminal_says_how_far_and_how_long() -> None:
    clock = Clock()
    stream = Terminal()
    show = Progress(stream, clock)
    show(STARTED)
    clock.now = 30.0
    show(step(25))
    line = stream.getvalue().split("\r")[-1]
    assert line.startswith("█████░░░░░░░░░░░░░░░  25%  25/100  loss 2.500  1,234 tokens/s")
    assert "1:30 left" in line
    assert "\n" not in line


def test_a_resumed_run_estimates_from_its_own_updates() -> None:
    clock = Clock()
    stream = Terminal()
    show = Progress(stream, clock)
    show(Started(**STARTED.to_dict() | {"step": 50, "resumed": True}))
    clock.now = 10.0
    show(step(60))
    assert "0:40 left" in stream.getvalue()


def test_a_log_file_gets_a_plain_line_now_and_then() -> None:
    clock = Clock()
    stream = io.StringIO()
    show = Progress(stream, clock)
    show(STARTED)
    started = stream.getvalue()
    for number in range(1, 41):
        clock.now += 1.0
        show(step(number))
    lines = stream.getvalue().removeprefix(started).split("\n")
    assert [line.split("  ")[2] for line in lines[:-1]] == ["15/100", "30/100"]
    assert "\x1b" not in stream.getvalue()


def test_durations() -> None:
    assert [duration(s) for s in (0, 59.6, 725, 11_400)] == ["0:00", "1:00", "12:05", "3:10:00"]
