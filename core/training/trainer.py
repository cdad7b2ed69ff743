"""The training loop: update after update, until the last one or until asked to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.checkpoints.native import save_checkpoint
from core.corpus.batching import plan_batches
from core.corpus.ragged import Indices
from core.model.transformer import Transformer
from core.training.averaging import average_checkpoints
from core.training.batch import Batch, make_batch
from core.training.config import RunConfig
from core.training.control import POLL_SECONDS, Wish
from core.training.data import TrainingData
from core.training.events import (
    CheckpointSaved,
    Continued,
    Event,
    Finished,
    Interrupted,
    Paused,
    Step,
    Validation,
)
from core.training.pairs import EncodedPairs
from core.training.probes import Probes
from core.training.provenance import provenance
from core.training.run_folder import RunFolder
from core.training.state import Position, Sums, save_state
from core.training.updater import Update, Updater
from core.training.validation import Result, validate, validation_search
from core.training.workers import ALONE, Workers

SAMPLES = 12


class Trainer:
    """Trains ``model`` from ``position`` on and, as the first worker, keeps the run folder.

    Args:
        about: what run.json says of the run besides its configuration, for the provenance.
        tell: hears every event, after the run folder has.
        should_stop: asked after every update, as is the folder's ``wish``.
    """

    def __init__(
        self,
        config: RunConfig,
        model: Transformer,
        data: TrainingData,
        folder: RunFolder,
        *,
        about: Mapping[str, Any],
        tell: Callable[[Event], None],
        should_stop: Callable[[], bool],
        workers: Workers,
    ) -> None:
        self.config = config
        self.model = model
        self.data = data
        self.folder = folder
        self.about = about
        self.tell = tell
        self.should_stop = should_stop
        self.workers = workers
        self.updater = Updater(model, config.training, workers)
        self.position = Position()

    def train(self) -> None:
        """Train until the end and write the run's model, or until asked to stop.

        Either way the state is saved, so that the run can go on.

        Raises:
            UserError: the loss is no longer a number, or a file cannot be written.
        """
        training, position = self.config.training, self.position
        self.model.train()
        groups = self._groups()
        probes = Probes(training, self.data.tokenizer, self.folder)
        if self.workers.first:
            probes.record(self.model, position.update, last=self._done())
        while not self._done():
            began = time.monotonic()
            update = self.updater.apply(next(groups), position.update + 1)
            if update is None:
                continue  # its batches are passed over
            self._count(update, time.monotonic() - began)
            last = position.update == training.steps
            if last or position.update % training.log_every == 0:
                self._log(update)
            began = time.monotonic()
            if last or position.update % training.validate_every == 0:
                self._validate()
            position.other_seconds += time.monotonic() - began
            if self.workers.first:
                probes.record(self.model, position.update, last=self._done())
            began = time.monotonic()
            self._save_checkpoints(
                due=self._done() or position.update % training.checkpoint_every == 0
            )
            position.other_seconds += time.monotonic() - began
            if not self._done() and self._asked_to_stop():
                self.save_state()
                if self.workers.first:
                    probes.record(self.model, position.update, last=True)
                self._tell(Interrupted(step=position.update, run=str(self.folder.path)))
                return
        if self.workers.first:
            self._finish()

    def plan(self, pairs: EncodedPairs, epoch: int) -> list[Indices]:
        """Return the batches of an epoch, in order."""
        training = self.config.training
        return plan_batches(
            pairs.source.lengths,
            pairs.target.lengths,
            source_budget=training.source_batch_tokens,
            target_budget=training.target_batch_tokens,
            seed=training.seed,
            epoch=epoch,
        )

    def save_state(self) -> None:
        save_state(self.folder.state, self.updater, self.data.tokenizer, self.config, self.position)

    def _done(self) -> bool:
        return self.position.update >= self.config.training.steps or self._stopped_early()

    def _stopped_early(self) -> bool:
        return self.position.best.exhausted(self.config.training.early_stopping)

    def _asked_to_stop(self) -> bool:
        """Wait as long as a pause is asked for, with the state saved."""
        wish = self._wish()
        if wish == "pause":
            self.save_state()
            self._tell(Paused(step=self.position.update, run=str(self.folder.path)))
            while (wish := self._wish()) == "pause":
                time.sleep(POLL_SECONDS)
            if wish is None:
                self._tell(Continued(step=self.position.update))
        return wish == "stop"

    def _wish(self) -> Wish | None:
        """That of the folder, as the first worker reads it, unless any of them is to stop."""
        asked = self.folder.wish() if self.workers.first else None
        stop, pause = self.workers.sum(self.should_stop() or asked == "stop", asked == "pause")
        return "stop" if stop else "pause" if pause else None

    def _groups(self) -> Iterator[list[Batch]]:
        """This worker's batches of each update, from ``position`` on, epoch after epoch.

        The workers deal out the batches of an update in turn. Who is left without one at the end
        of an epoch goes through another's, to keep step, and learns nothing from it.
        """
        position, workers = self.position, self.workers
        size = self.config.training.accumulation * workers.count
        while True:
            pairs = self.data.epoch(position.epoch)
            plan = self.plan(pairs, position.epoch)
            while position.batch < len(plan):
                chosen = plan[position.batch : position.batch + size]
                position.batch += len(chosen)
                own = chosen[workers.rank :: workers.count]
                batches = [
                    make_batch(pairs, indices, self.model.config, self.updater.device)
                    for indices in own or chosen[:1]
                ]
                yield batches if own else [batches[0].without_targets()]
            position.epoch += 1
            position.batch = 0

    def _count(self, update: Update, seconds: float) -> None:
        self.position.update += 1
        self.position.seconds += seconds
        sums = self.position.since_log
        sums.loss += update.loss_sum
        if sums.nll is not None:
            sums.nll += update.nll_sum
        sums.tokens += update.tokens
        sums.gloss += update.gloss_sum
        sums.glosses += update.glosses
        sums.seconds += seconds

    def _log(self, update: Update) -> None:
        sums = self.position.since_log
        self._tell(
            Step(
                step=self.position.update,
                epoch=self.position.epoch,
                train_loss=sums.loss / sums.tokens,
                train_nll=None if sums.nll is None else sums.nll / sums.tokens,
                gloss_loss=sums.gloss / sums.glosses if sums.glosses else None,
                learning_rate=update.learning_rate,
                gradient_norm=update.gradient_norm,
                position_cosine=update.position_cosine,
                tokens_per_second=sums.tokens / sums.seconds,
                seconds=self.position.seconds,
                other_seconds=self.position.other_seconds,
            )
        )
        self.position.since_log = Sums()

    def _validate(self) -> None:
        result = self._scores(self.model, self.workers)
        validation = Validation(
            step=self.position.update,
            valid_loss=result.loss,
            perplexity=result.perplexity,
            bleu=result.scores.bleu,
            chrf=result.scores.chrf,
            bleu_signature=result.scores.bleu_signature,
            chrf_signature=result.scores.chrf_signature,
        )
        self._tell(validation)
        training = self.config.training
        self.position.best.note(validation, by=training.best_by, keep=training.keep_best)
        if self.workers.first:
            self._keep_samples(result.translations)

    def _keep_samples(self, translations: Sequence[str]) -> None:
        references = self.data.references
        sources = list(references)
        for index in range(0, len(sources), max(1, len(sources) // SAMPLES)):
            self.folder.append(
                self.folder.samples,
                {
                    "step": self.position.update,
                    "source": sources[index],
                    "translation": translations[index],
                    "references": list(references[sources[index]]),
                },
            )

    def _scores(self, model: Transformer, workers: Workers) -> Result:
        training = self.config.training
        return validate(
            model,
            self.data.tokenizer,
            self.data.validation,
            self.data.references,
            min(training.source_batch_tokens, training.target_batch_tokens),
            workers,
            validation_search(training),
        )

    def _save_checkpoints(self, *, due: bool) -> None:
        """The checkpoint of this step if it is ``due``, and that of the best if it is one of them.

        Whenever the process is killed, what was told of and is to be kept is there, and the state
        is not older: a checkpoint is told of after the state is saved, and old ones go after that.
        """
        step, keep_best = self.position.update, self.config.training.keep_best
        paths = [self.folder.checkpoint(step)] if due else []
        if keep_best and step in self.position.best.steps:
            paths.append(self.folder.best_checkpoint(step))
        if self.workers.first:
            for path in paths:
                path.parent.mkdir(exist_ok=True)
                save_checkpoint(path, self.model, self.data.tokenizer, self._provenance())
        if paths:
            self.save_state()
            for path in paths:
                self._tell(CheckpointSaved(step=step, path=str(path)))
            self.prune_checkpoints()

    def prune_checkpoints(self) -> None:
        """Remove the checkpoints that the configuration does not keep."""
        if not self.workers.first:
            return
        training = self.config.training
        self.folder.prune_checkpoints(training.keep_checkpoints)
        self.folder.prune_best(self.position.best.steps if training.keep_best else set())

    def _finish(self) -> None:
        """The mean of the last checkpoints becomes the run's model."""
        last = self.folder.checkpoints()[-self.config.training.average_last :]
        model = average_checkpoints(last).model.to(self.updater.device)
        result = self._scores(model, ALONE)
        scores = {
            "validation_loss": result.loss,
            "perplexity": result.perplexity,
            **result.scores.to_dict(),
        }
        about = self._provenance() | {"averaged": len(last), "scores": scores}
        save_checkpoint(self.folder.model, model, self.data.tokenizer, about)
        self._tell(
            Finished(
                step=self.position.update,
                path=str(self.folder.model),
                stopped_early=self._stopped_early(),
                averaged=len(last),
                seconds=self.position.seconds,
                valid_loss=result.loss,
                perplexity=result.perplexity,
                bleu=result.scores.bleu,
                chrf=result.scores.chrf,
            )
        )

    def _provenance(self) -> dict[str, Any]:
        about = provenance(self.config, self.about, step=self.position.update)
        return about | self.data.seen_words

    def _tell(self, event: Event) -> None:
        if self.workers.first:
            self.folder.log(event)
        self.tell(event)
