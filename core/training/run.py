"""Starting a run from nothing but its configuration, and going on with one that stopped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch

from core.device import available_threads, choose_device
from core.errors import UserError
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.tokenizer import train_tokenizer
from core.training.config import RunConfig
from core.training.data import TrainingData, read_texts, tokenizer_lines
from core.training.events import Event, Started
from core.training.probes import require_traceable
from core.training.provenance import software_versions
from core.training.run_folder import RunFolder
from core.training.state import load_state
from core.training.trainer import Trainer

Tell = Callable[[Event], None]
ShouldStop = Callable[[], bool]


def start_run(
    path: Path, config: RunConfig, *, command: str, tell: Tell, should_stop: ShouldStop
) -> None:
    """Learn the vocabulary, initialise the model, make the run folder, train.

    Raises:
        UserError: the folder is taken, the device is not there, the data cannot be read, the loss
            is no longer a number.
    """
    RunFolder.require_free(path)
    config = _resolve(config)
    training = config.training
    texts = read_texts(training)
    tokenizer = train_tokenizer(tokenizer_lines(texts, training), config.model.vocab_size)
    config = dataclasses.replace(
        config, model=dataclasses.replace(config.model, vocab_size=tokenizer.vocab_size)
    )
    require_traceable(training, tokenizer, config.model)
    torch.manual_seed(training.seed)
    model = Transformer(config.model)
    initialise(model, training.seed, training.init_scale)
    model.to(training.device)
    data = TrainingData(texts, tokenizer, training)
    about = {
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "software": software_versions(),
        "data": texts.report,
        "data_checksum": texts.checksum,
    }
    folder = RunFolder.create(path, config, about)
    trainer = Trainer(
        config,
        model,
        data,
        folder,
        command=command,
        tell=tell,
        should_stop=should_stop,
    )
    trainer.save_state()
    _train(trainer, texts.report, resumed=False)


def resume_run(path: Path, *, steps: int | None, tell: Tell, should_stop: ShouldStop) -> None:
    """Go on exactly where the state was saved, as if nothing had happened.

    Args:
        steps: a new last step; None keeps the run's.

    Raises:
        UserError: the folder holds no run, its data has changed, or no step is left to do.
    """
    folder = RunFolder.open(path)
    config, about = folder.read_record()
    state = load_state(folder.state)
    if steps is not None:
        config = config.with_settings({"steps": steps})
    training = config.training
    done = state.position.update
    if done > training.steps or (done == training.steps and folder.model.is_file()):
        raise UserError(
            f"{path} has done {done:,} of {training.steps:,} updates; "
            f"to train on, give a larger number: transformer-viz resume {path} --steps N."
        )
    _resolve(config)
    texts = read_texts(training)
    if texts.checksum != about["data_checksum"]:
        raise UserError(
            f"The data of {path}, files or grammar, is not what it was when the run began, so it "
            "cannot go on exactly; restore files and program, or start a new run."
        )
    require_traceable(training, state.tokenizer, config.model)
    model = Transformer(config.model).to(training.device)
    data = TrainingData(texts, state.tokenizer, training)
    trainer = Trainer(
        config,
        model,
        data,
        folder,
        command=about["command"],
        tell=tell,
        should_stop=should_stop,
    )
    state.restore(model, trainer.updater.optimizer)
    trainer.position = state.position
    folder.write_record(config, about)
    folder.rewind(done)
    _train(trainer, texts.report, resumed=True)


def _resolve(config: RunConfig) -> RunConfig:
    """Put the device and threads that will be used in place of "auto" and None, and use them."""
    training = config.training
    device = choose_device(training.device)
    if training.precision == "bf16" and device.type != "cuda":
        raise UserError(f"precision bf16 needs a CUDA device, not {device}; use fp32.")
    threads = training.threads or available_threads()
    torch.set_num_threads(threads)
    return dataclasses.replace(
        config, training=dataclasses.replace(training, device=str(device), threads=threads)
    )


def _train(trainer: Trainer, report: list[str], *, resumed: bool) -> None:
    training = trainer.config.training
    try:
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
                data=report,
            )
        )
        trainer.train()
    finally:
        trainer.data.close()
