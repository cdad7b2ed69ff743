"""One update: the losses of its batches, their gradient, Adam.

Legend: B batch, S source, D d_model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from core.errors import UserError
from core.model.transformer import Transformer
from core.training.batch import Batch
from core.training.config import TrainingConfig
from core.training.objective import Objective
from core.training.position_cosine import position_cosine
from core.training.schedule import learning_rate
from core.training.workers import ALONE, Workers, unsynchronised


@dataclass(frozen=True, slots=True)
class Update:
    """The result of an update: sums over the batches of all workers, and the gradient's norm before
    clipping.

    ``nll_sum`` is ``loss_sum`` without smoothing. ``memory`` [B, S, D] and ``source_real`` [B, S]
    are those of this worker's last batch.
    """

    loss_sum: float
    nll_sum: float
    tokens: int
    gloss_sum: float
    glosses: int
    learning_rate: float
    gradient_norm: float
    memory: Tensor
    source_real: Tensor

    @property
    def position_cosine(self) -> float:
        return position_cosine(self.memory, self.source_real)


_HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Updater:
    """A model, its optimizer and the recipe, the same in all ``workers``.

    In fp16 the loss is multiplied by ``scaler``'s scale before the backward pass and the gradient
    divided by it after; in every other precision the scaler does nothing.
    """

    def __init__(
        self, model: Transformer, config: TrainingConfig, workers: Workers = ALONE
    ) -> None:
        self.model = model
        self.config = config
        self.workers = workers
        self.device = next(model.parameters()).device
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=config.precision == "fp16")
        self.objective = Objective(model, config)
        self._parallel = workers.parallel(self.objective)
        self.optimizer = torch.optim.Adam(
            model.parameters(),
            betas=(config.adam_beta1, config.adam_beta2),
            eps=config.adam_epsilon,
            fused=True,
        )

    def apply(self, batches: Sequence[Batch], number: int) -> Update | None:
        """Apply the ``number``-th update, counted from 1.

        The gradient is that of one big batch: every sum is divided once, by the target tokens of
        all batches of all workers. A glossed word counts as ``gloss_weight`` target tokens.

        Args:
            batches: this worker's, at least one.

        Returns:
            None where a scaled fp16 gradient was too large: the scale has been halved, and model
            and optimizer are as they were before.

        Raises:
            UserError: loss or gradient is no longer a number; the model is as it was before.
        """
        tokens, glosses = self.workers.sum(
            sum(batch.tokens for batch in batches), sum(len(batch.gloss_at) for batch in batches)
        )
        tokens_each = tokens / self.workers.count  # the workers' gradients are averaged after
        loss_sum = gloss_sum = nll_sum = torch.zeros((), device=self.device)
        self.optimizer.zero_grad(set_to_none=True)
        for index, batch in enumerate(batches):
            last = index == len(batches) - 1
            with nullcontext() if last else unsynchronised(self._parallel):
                with self._autocast():
                    loss, gloss, memory, nll = self._parallel(batch)
                mean = (loss + self.config.gloss_weight * gloss) / tokens_each
                torch.autograd.backward(self.scaler.scale(mean))
            loss_sum = loss_sum + loss.detach()
            gloss_sum = gloss_sum + gloss.detach()
            nll_sum = nll_sum + nll
        self.scaler.unscale_(self.optimizer)
        norm = self._clip()
        total_loss, total_gloss, total_nll = self.workers.sum(
            loss_sum.item(), gloss_sum.item(), nll_sum.item()
        )
        if not math.isfinite(norm + total_loss):
            with self.workers.agreed():
                self._back_off(number, total_loss)
            return None
        rate = learning_rate(
            number,
            d_model=self.model.config.d_model,
            warmup=self.config.warmup,
            factor=self.config.peak_factor,
            total=self.config.steps,
            cooldown=self.config.cooldown,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return Update(
            loss_sum=total_loss,
            nll_sum=total_nll,
            tokens=int(tokens),
            gloss_sum=total_gloss,
            glosses=int(glosses),
            learning_rate=rate,
            gradient_norm=norm,
            memory=memory.detach(),
            source_real=batch.source != self.model.config.pad_id,
        )

    def _autocast(self) -> AbstractContextManager[object]:
        if self.config.precision in _HALF:
            return torch.autocast(self.device.type, dtype=_HALF[self.config.precision])
        return nullcontext()

    def _back_off(self, number: int, loss: float) -> None:
        """Halve the scale of the loss; raise where that is of no help."""
        if self.scaler.is_enabled() and math.isfinite(loss) and self.scaler.get_scale() > 1.0:
            self.scaler.update()
            return
        half = "use precision bf16, " if self.config.precision == "fp16" else ""
        raise UserError(
            f"The loss is no longer a number at update {number}: {half}decrease peak_factor (now "
            f"{self.config.peak_factor}), increase warmup (now {self.config.warmup}) or set "
            "clip_norm to 1, and start again. Checkpoints written so far are valid."
        )

    def _clip(self) -> float:
        """The gradient's norm, before ``clip_norm`` shortens it."""
        parameters = list(self.model.parameters())
        gradients = [p.grad for p in parameters if p.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        if self.config.clip_norm is not None:
            torch.nn.utils.clip_grads_with_norm_(parameters, self.config.clip_norm, norm)
        return norm.item()
