"""Starting a run from nothing but its configuration, and going on with one that stopped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from core.checkpoints.header import read_header
from core.errors import UserError
from core.files import is_file, write_problem
from core.model.initialisation import initialise
from core.model.kernels import PRESENT
from core.model.product import choose, chosen
from core.model.product_choice import UNMEASURED, ProductChoice
from core.model.transformer import Transformer
from core.text.sentence_pieces import SentencePieceTokenizer, train_tokenizer
from core.text.tokenizer import Tokenizer
from core.training.config import MAY_CHANGE, RunConfig, TrainingConfig
from core.training.data import TrainingData
from core.training.events import Event, Interrupted, Started
from core.training.machine import dtype, settle, told_if_too_large
from core.training.preparation import Preparation, StoppedError
from core.training.probe import with_references
from core.training.probes import probe_steps, require_traceable
from core.training.provenance import software_versions
from core.training.run_folder import RunFolder, TakenBack
from core.training.starting_point import StartingPoint
from core.training.state import load_state
from core.training.survey import saved_survey, take_survey
from core.training.tensorboard import TensorBoard
from core.training.trainer import Trainer
from core.training.vocabulary import tokenizer_lines, tree_names
from core.training.workers import ALONE, Workers

_COMPILER = ("torch._dynamo", "torch._inductor")

Tell = Callable[[Event], None]
ShouldStop = Callable[[], bool]


def start_run(
    path: Path,
    config: RunConfig,
    *,
    command: str,
    tell: Tell,
    should_stop: ShouldStop,
    workers: Workers = ALONE,
) -> None:
    """Learn the vocabulary, initialise the model, create the run folder, and train.

    All ``workers`` call this; they read the same data, and the first one writes the folder.

    Raises:
        UserError: the folder is taken, the device is not there, the data cannot be read, the loss
            is no longer a number.
    """
    workers.require_same(config, "settings")
    with workers.agreed():
        if workers.first:
            RunFolder.require_free(path)
        config = settle(config, workers)
    config, products = workers.broadcast((config, chosen()))  # each has measured for itself
    choose(products)
    torch.set_num_threads(config.training.threads or torch.get_num_threads())
    with _preparation_may_stop(RunFolder(path), tell), _new_folder(path, workers) as folder:
        trainer, about = _prepare(folder, config, command, tell, should_stop, workers)
        trainer.save_state()
        if workers.first:
            folder.write_record(trainer.config, about)
        _train(trainer, about["data"], resumed=False)


@contextmanager
def _new_folder(path: Path, workers: Workers) -> Iterator[RunFolder]:
    """Made and held by the first worker; it goes again unless there comes to be a run in it."""
    if not workers.first:
        yield RunFolder(path)
        return
    folder = RunFolder.make(path)
    with folder.lock:
        try:
            yield folder
        finally:
            folder.discard()


def _prepare(
    folder: RunFolder,
    config: RunConfig,
    command: str,
    tell: Tell,
    should_stop: ShouldStop,
    workers: Workers,
) -> tuple[Trainer, dict[str, Any]]:
    """A trainer at the first update, and what run.json says besides the configuration."""
    training = config.training
    asked = config.model.vocab_size
    learnt = b""
    with workers.agreed():
        start = StartingPoint.of(config)
        watch = _watch(folder, tell, should_stop, step=0)
        survey = take_survey(training, watch)
        names = tree_names(survey, training, watch)
        if workers.first and start is None:
            lines = tokenizer_lines(survey, training, watch, names.plain)
            learnt = train_tokenizer(lines, asked, names.divided).model_bytes
    workers.require_same(survey.checksum, "data")
    tokenizer = start.tokenizer if start else SentencePieceTokenizer(workers.broadcast(learnt))
    training = dataclasses.replace(
        training, probes=with_references(training.probes, survey.validation)
    )
    config = RunConfig(
        model=dataclasses.replace(config.model, vocab_size=tokenizer.vocab_size), training=training
    )
    if start is not None:
        config = start.shaped(config)
    torch.manual_seed(training.seed + workers.rank)
    with workers.agreed():
        require_traceable(training, tokenizer, config.model)
        with told_if_too_large(config):
            model = Transformer(config.model)
            if start is None:
                initialise(model, training.seed, training.init_scale)
            else:
                model.load_state_dict(start.model.state_dict())
            model.to(training.device, dtype(training))
        data = TrainingData(survey, tokenizer, training, folder.data)
    about = {
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "software": software_versions(),
        "data": [*survey.report, *_vocabulary_report(tokenizer, asked, start)],
        "data_checksum": survey.checksum,
        "products": chosen().to_dict(),
    }
    if names.labels:
        about["labels"] = list(names.labels)
    if start is not None:
        about["started_from"] = start.about
    trainer = Trainer(
        config,
        model,
        data,
        folder,
        about=about,
        tell=tell,
        should_stop=should_stop,
        workers=workers,
    )
    return trainer, about


def _vocabulary_report(tokenizer: Tokenizer, asked: int, start: StartingPoint | None) -> list[str]:
    pieces = tokenizer.vocab_size
    if start is not None:
        return [f"vocabulary ({pieces:,} pieces), shape and weights are {start.about['file']}'s"]
    if pieces >= asked:
        return []
    return [
        f"vocab_size {asked:,} is more than the text allows: the largest possible vocabulary, "
        f"{pieces:,} pieces, is used"
    ]


def resume_run(
    path: Path,
    *,
    steps: int | None,
    tell: Tell,
    should_stop: ShouldStop,
    workers: Workers = ALONE,
) -> None:
    """Resume exactly where the state was saved, as if nothing had happened.

    Args:
        steps: a new last step; None keeps the run's.

    Raises:
        UserError: the folder holds no run, another process trains it, its data or settings have
            changed, or no step is left to do.
    """
    with workers.agreed():
        folder = RunFolder.open(path)
        unexpected_end = folder.lock.is_abandoned()
    with _preparation_may_stop(folder, tell), folder.lock if workers.first else nullcontext():
        if workers.first:
            folder.request(None)  # asked of a process that is gone
        _resume(folder, steps, tell, should_stop, workers, unexpected_end)


def _resume(
    folder: RunFolder,
    steps: int | None,
    tell: Tell,
    should_stop: ShouldStop,
    workers: Workers,
    unexpected_end: bool,
) -> None:
    path = folder.path
    with workers.agreed():
        config, about = folder.read_record()
        state = load_state(folder.state)
        _require_same_count(path, state.workers, workers.count)
        done, best = state.position.update, state.position.best
        if state.config is not None:
            _require_same_settings(path, config, state.config)
        extra = _extra_probe(config.training, done)
        if steps is not None:
            config = config.with_settings({"steps": steps})
            best.since = 0
            extra = False
        training = config.training
        at_end = done == training.steps or best.exhausted(training.early_stopping)
        if done > training.steps or (at_end and _has_finished(folder, done)):
            early = "stopped early after" if best.exhausted(training.early_stopping) else "has done"
            raise UserError(
                f"{path} {early} {done:,} of {training.steps:,} updates; to continue, choose a "
                f"larger number: transformer-viz resume {path} --steps N."
            )
        products = _products(folder, about)
        settle(config, workers, products)
        watch = _watch(folder, tell, should_stop, step=done)
        survey = saved_survey(folder.data, training, watch) or take_survey(training, watch)
        if survey.checksum != about.get("data_checksum"):
            raise UserError(
                f"The data of {path}, files or grammar, has changed since the run began, so it "
                "cannot resume exactly; restore the files and the program version, or start a "
                "new run."
            )
        require_traceable(training, state.tokenizer, config.model)
        with told_if_too_large(config):
            model = Transformer(config.model).to(training.device, dtype(training))
        data = TrainingData(survey, state.tokenizer, training, folder.data)
    workers.require_same((config, survey.checksum), "settings or data")
    trainer = Trainer(
        config,
        model,
        data,
        folder,
        about=about,
        tell=tell,
        should_stop=should_stop,
        workers=workers,
    )
    state.restore(trainer.updater)
    trainer.position = state.position
    taken_back = TakenBack(done, 0)
    if workers.first:
        folder.write_record(config, about)
        taken_back = folder.rewind(done)
        if extra:
            folder.take_back_probe(done)
        trainer.prune_checkpoints()
    _train(
        trainer,
        [*survey.report, *_lacking(products)],
        resumed=True,
        unexpected_end=unexpected_end,
        back=taken_back,
    )


def _products(folder: RunFolder, about: Mapping[str, Any]) -> ProductChoice:
    """The kernels that the run began with; earlier versions had no choice.

    Raises:
        UserError: what run.json says of them was changed.
    """
    if "products" not in about:
        return UNMEASURED
    try:
        return ProductChoice.from_dict(about["products"])
    except ValueError as error:
        raise UserError(
            f'{folder.record} is damaged: "products" does not say which kernels the run '
            "began with; remove it to resume with those of earlier versions."
        ) from error


def _lacking(products: ProductChoice) -> list[str]:
    missing = sorted(products.names() - PRESENT.keys())
    if not missing:
        return []
    return [
        f"the run began with matrix products by {', '.join(missing)}, which this PyTorch lacks; "
        "torch's own are used, so the last digits may differ"
    ]


def _require_same_settings(path: Path, config: RunConfig, before: RunConfig) -> None:
    """Raises UserError for a setting that the run depends on and that run.json has otherwise."""
    for name, (now, then) in config.differences(before).items():
        if name not in MAY_CHANGE:
            raise UserError(
                f"{path / 'run.json'} has {name} = {json.dumps(now)}, but the run was trained "
                f"with {json.dumps(then)} so far; restore that value, or start a new run."
            )


def _require_same_count(path: Path, before: int, now: int) -> None:
    """Raises UserError if another number of processes goes on, whose updates would be others."""
    if now != before:
        how = "without torchrun" if before == 1 else f"with torchrun, {before} processes in all"
        raise UserError(
            f"{path} was trained with {before} {'process' if before == 1 else 'processes'} so far, "
            f"and {now} would make different updates; resume it {how}."
        )


def _extra_probe(training: TrainingConfig, step: int) -> bool:
    """Whether a probe of this step was recorded only because the run was stopped there; without it
    a resumed run has the same files as one that was never stopped."""
    return step not in probe_steps(training.steps, training.probe_points)


def _has_finished(folder: RunFolder, step: int) -> bool:
    """Whether the run's model is that of this step, not of an earlier end."""
    return is_file(folder.model) and read_header(folder.model).provenance.get("step") == step


@contextmanager
def _preparation_may_stop(folder: RunFolder, tell: Tell) -> Iterator[None]:
    """That is an event; whether there is a run to go on with depends on how far it had come."""
    try:
        yield
    except StoppedError as stopped:
        run = str(folder.path) if is_file(folder.record) else None
        tell(Interrupted(step=stopped.step, run=run))


def _watch(folder: RunFolder, tell: Tell, should_stop: ShouldStop, step: int) -> Preparation:
    return Preparation(tell, lambda: should_stop() or folder.wish() == "stop", step=step)


def _prepare_data(trainer: Trainer) -> None:
    """The first process encodes the files; then one on each machine, unless it sees what the
    first one wrote; then all others find them encoded.
    """
    workers = trainer.workers
    watch = _watch(trainer.folder, trainer.tell, trainer.should_stop, trainer.position.update)
    for turn in (0, 1, 2):
        with workers.agreed():
            if turn == (0 if workers.first else 1 if workers.local_rank == 0 else 2):
                trainer.data.prepare(watch)


def _train(
    trainer: Trainer,
    report: list[str],
    *,
    resumed: bool,
    unexpected_end: bool = False,
    back: TakenBack | None = None,
) -> None:
    training = trainer.config.training
    if training.tensorboard and trainer.workers.first:
        board = TensorBoard(trainer.folder.tensorboard, trainer.position.update)
        trainer.tell = _both(board, trainer.tell)
    try:
        _prepare_data(trainer)
        trainer.tell(
            Started(
                step=trainer.position.update,
                run=str(trainer.folder.path),
                steps=training.steps,
                resumed=resumed,
                parameters=trainer.model.parameter_count(),
                vocabulary=trainer.data.tokenizer.vocab_size,
                pairs_per_epoch=trainer.data.pairs_per_epoch,
                device=training.device,
                precision=training.precision,
                threads=torch.get_num_threads(),
                products=chosen().summary() if training.device == "cpu" else "",
                data=[*report, *trainer.data.left_out],
                unexpected_end=unexpected_end,
                repeated=back.update - trainer.position.update if back else 0,
                odd_lines=back.odd_lines if back else 0,
            )
        )
        trainer.train()
    except torch.OutOfMemoryError as error:
        raise UserError(
            f"{training.device} ran out of memory after update {trainer.position.update:,}; "
            "start a new run with half of source_batch_tokens (now "
            f"{training.source_batch_tokens}) and target_batch_tokens (now "
            f"{training.target_batch_tokens}) and twice the accumulation."
        ) from error
    except RuntimeError as error:
        if not (training.compile and type(error).__module__.startswith(_COMPILER)):
            raise
        raise UserError(
            "torch.compile does not work on this machine: it needs a C++ compiler or, on CUDA, "
            "Triton. Start the run with compile=false. The error was: "
            f"{str(error).splitlines()[0]}"
        ) from error
    except OSError as error:
        raise UserError(write_problem(error.filename or trainer.folder.path, error)) from error
    finally:
        trainer.data.close()
        if trainer.workers.first:
            trainer.folder.request(None)


def _both(first: Tell, second: Tell) -> Tell:
    def tell(event: Event) -> None:
        first(event)
        second(event)

    return tell
