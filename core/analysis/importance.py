"""How much the loss hangs on each head's output (Michel et al. 2019, section 4.1).

    I_h = E_x |∂L(x)/∂ξ_h|   at ξ = 1,

ξ_h being the head's gate and L(x) the mean cross-entropy of the tokens of a sentence x, its end
token included, without label smoothing. The absolute value is taken sentence by sentence: taken
of a batch, gradients of different signs would cancel.

Legend: B sentences of a batch, S source, T target, N predicted tokens, L layers,
H heads, D d_model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from core.decoding.batching import batches_by_length, padded
from core.decoding.search import source_batch
from core.heads import AttentionKind, Head
from core.model.gates import Gates, gated
from core.model.transformer import Transformer

Pair: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""Source and target ids without specials."""
Importance: TypeAlias = Mapping[AttentionKind, NDArray[np.float64]]


def importance(
    model: Transformer,
    pairs: Sequence[Pair],
    *,
    batch_tokens: int = 1500,
    progress: Callable[[int], None] = lambda done: None,
) -> Importance:
    """Return I_h of every head in nats per token: [L, H] for each kind, NaN for a pruned head.

    Args:
        model: in evaluation mode.
        pairs: at least one.
        batch_tokens: sentences × longest side in a batch, padding included.
        progress: told how many pairs are done; what it raises ends the work.
    """
    config = model.config
    total = {kind: np.zeros((config.layers(kind), config.heads(kind))) for kind in AttentionKind}
    done = 0
    for batch in _batches(model, pairs, batch_tokens):
        for kind, gradient in _gradients(model, batch).items():
            total[kind] += gradient.abs().sum(0, dtype=torch.float64).cpu().numpy()
        done += len(batch.source)
        progress(done)
    for kind, summed in total.items():
        for layer, row in enumerate(summed):
            row[np.setdiff1d(np.arange(len(row)), config.kept_heads(kind, layer))] = np.nan
    return {kind: summed / len(pairs) for kind, summed in total.items()}


def layer_normalised(values: Importance) -> Importance:
    """Return I_h / ‖I‖₂ over the heads of a layer, as the paper compares layers; [L, H] for each
    kind."""
    return {
        kind: of_kind / np.sqrt(np.nansum(of_kind**2, axis=1, keepdims=True))
        for kind, of_kind in values.items()
    }


def effects(
    model: Transformer,
    pairs: Sequence[Pair],
    *,
    batch_tokens: int = 1500,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[Head, float]:
    """What I_h is the slope of, measured: E_x [L(x) at ξ_h = 0] − E_x [L(x)], nats a token.

    Args:
        model, pairs, batch_tokens: as for ``importance``.
        progress: told how many of heads · pairs are done.

    Returns:
        of every head; above 0 where it helps.
    """
    total = dict.fromkeys(model.config.every_head(), 0.0)
    done = 0
    for batch in _batches(model, pairs, batch_tokens):
        with torch.inference_mode():
            memory = model.encode(batch.source)
            whole = batch.losses(model, memory)
            for head in total:
                encodes = head.kind is AttentionKind.ENCODER_SELF
                with gated(model, Gates.of(model.config, {head: 0.0})):
                    without = batch.losses(model, None if encodes else memory)
                total[head] += float((without - whole).sum(dtype=torch.float64))
                done += len(whole)
                progress(done)
    return {head: summed / len(pairs) for head, summed in total.items()}


def _gradients(model: Transformer, batch: _Batch) -> dict[AttentionKind, Tensor]:
    """∂L(x)/∂ξ of each sentence x: [B, L, H] of each kind."""
    gates = Gates.open(model.config, batch=len(batch.source)).requires_grad()
    with torch.enable_grad(), gated(model, gates):
        loss = batch.losses(model).sum()
    kinds = list(gates.factors)
    found = torch.autograd.grad(loss, [gates.factors[kind] for kind in kinds])
    return dict(zip(kinds, found, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Sources [B, S], what the decoder is fed and is to predict [B, T]."""

    source: Tensor
    fed: Tensor
    wanted: Tensor

    def losses(self, model: Transformer, memory: Tensor | None = None) -> Tensor:
        """L(x) of each sentence, [B]; memory [B, S, D], where it is known."""
        real = self.wanted != model.config.pad_id  # [B, T]
        memory = model.encode(self.source) if memory is None else memory
        hidden = model.decode(self.fed, memory, self.source)  # [B, T, D]
        logits = model.logits(hidden[real])  # [N, V]
        of_tokens = F.cross_entropy(logits, self.wanted[real], reduction="none")  # [N]
        sums = of_tokens.new_zeros(len(real)).index_add(0, real.nonzero()[:, 0], of_tokens)
        return sums / real.sum(dim=1)


def _batches(model: Transformer, pairs: Sequence[Pair], batch_tokens: int) -> Iterator[_Batch]:
    config = model.config
    lengths = [1 + max(len(source), len(target)) for source, target in pairs]
    for indices in batches_by_length(range(len(pairs)), lengths, batch_tokens):
        targets = [pairs[index][1] for index in indices]
        yield _Batch(
            source_batch(model, [pairs[index][0] for index in indices]),
            padded([[config.bos_id, *ids] for ids in targets], config.pad_id, model.device),
            padded([[*ids, config.eos_id] for ids in targets], config.pad_id, model.device),
        )
