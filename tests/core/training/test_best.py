from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.checkpoints.header import read_header
from core.errors import UserError
from core.training import trainer as trainer_module
from core.training.best import Best
from core.training.config import RunConfig
from core.training.events import CheckpointSaved, Event, Finished, Validation
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from core.training.validation import Result, validate


def validation(step: int, score: float) -> Validation:
    return Validation(
        step=step,
        valid_loss=score,
        perplexity=1.0,
        bleu=score,
        chrf=1.0,
        bleu_signature="b",
        chrf_signature="c",
    )


def noted(scores: list[float], *, by: str, keep: int) -> Best:
    best = Best()
    for step, score in enumerate(scores, 1):
        best.note(validation(step, score), by=by, keep=keep)
    return best


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(0, 5))
def test_the_best_are_those_a_sort_would_find(scores: list[int], keep: int) -> None:
    for by, sign in (("valid_loss", 1), ("bleu", -1)):
        best = noted(scores, by=by, keep=keep)
        order = sorted(range(len(scores)), key=lambda i: (sign * scores[i], i))
        assert best.kept == [(i + 1, scores[i]) for i in order[: max(1, keep)]]
        assert best.since == len(scores) - 1 - order[0]


def test_patience_ends_after_so_many_validations_without_a_better_one() -> None:
    scores = [3.0, 2.0, 2.5, 2.0, 1.0, 1.0]
    for patience, seen in ((1, [False, False, True, True, False, True]), (3, [False] * 6)):
        ends = [noted(scores[:n], by="valid_loss", keep=0).exhausted(patience) for n in range(1, 7)]
        assert ends == seen
    assert not noted([1.0] * 50, by="bleu", keep=1).exhausted(None)


def test_it_survives_json() -> None:
    best = noted([3.0, 1.0, 2.0], by="bleu", keep=2)
    text = json.dumps({"kept": best.kept, "since": best.since})
    assert Best.from_dict(json.loads(text)) == best


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """losses(3.0, 2.0 …): what validation finds, one after the other, the last one for ever."""

    def use(*values: float) -> None:
        found = itertools.chain(values, itertools.repeat(values[-1]))

        def validated(*args: Any, **kwargs: Any) -> Result:
            result = validate(*args, **kwargs)
            return Result(next(found), result.scores, result.translations)

        monkeypatch.setattr(trainer_module, "validate", validated)

    return use


def start(path: Path, config: RunConfig, stop: Callable[[], bool] = lambda: False) -> list[Event]:
    events: list[Event] = []
    start_run(path, config, command="c", tell=events.append, should_stop=stop)
    return events


def resume(path: Path, steps: int | None = None) -> list[Event]:
    events: list[Event] = []
    resume_run(path, steps=steps, tell=events.append, should_stop=lambda: False)
    return events


def best_steps(path: Path) -> list[str]:
    return [path.stem for path in RunFolder(path).best_checkpoints()]


def test_the_best_models_stay_beside_the_newest(
    tmp_path: Path, copies: RunConfig, losses: Callable[..., None]
) -> None:
    losses(3.0, 1.0, 4.0, 2.0, 5.0)
    config = copies.with_settings({"keep_best": 2, "validate_every": 4, "keep_checkpoints": 2})
    events = start(tmp_path / "run", config)
    assert best_steps(tmp_path / "run") == ["step-000008", "step-000016"]
    folder = RunFolder(tmp_path / "run")
    assert [path.stem for path in folder.checkpoints()] == ["step-000016", "step-000020"]
    provenance = read_header(folder.best_checkpoints()[0]).provenance
    assert provenance["step"] == 8
    announced = [
        Path(event.path).parent.name for event in events if isinstance(event, CheckpointSaved)
    ]
    # The first two validations are among the best two, the fourth is again.
    assert announced == ["best", "checkpoints", "best", "checkpoints", "best", "checkpoints"]


def test_without_patience_left_the_run_ends_with_a_model(
    tmp_path: Path, copies: RunConfig, losses: Callable[..., None]
) -> None:
    losses(3.0, 2.0, 2.0, 2.5)
    config = copies.with_settings({"early_stopping": 2, "validate_every": 3, "steps": 100})
    events = start(tmp_path / "run", config)
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert (finished.step, finished.stopped_early, finished.averaged) == (12, True, 2)
    assert RunFolder(tmp_path / "run").checkpoints()[-1].stem == "step-000012"
    with pytest.raises(UserError, match=r"stopped early after 12 of 100 updates; .* --steps N"):
        resume(tmp_path / "run")


def test_an_early_end_can_be_gone_beyond_and_patience_starts_anew(
    tmp_path: Path, copies: RunConfig, losses: Callable[..., None]
) -> None:
    losses(2.0)
    config = copies.with_settings({"early_stopping": 1, "validate_every": 4})
    assert start(tmp_path / "run", config)[-1].step == 8
    finished = resume(tmp_path / "run", steps=30)[-1]
    assert isinstance(finished, Finished)
    assert (finished.step, finished.stopped_early) == (12, True)


def test_patience_is_resumed(
    tmp_path: Path, copies: RunConfig, losses: Callable[..., None]
) -> None:
    losses(2.0)
    config = copies.with_settings({"early_stopping": 3, "validate_every": 2, "keep_best": 1})
    counter = itertools.count(1)
    start(tmp_path / "run", config, lambda: next(counter) == 5)
    assert resume(tmp_path / "run")[-1].step == 8
    assert best_steps(tmp_path / "run") == ["step-000002"]
