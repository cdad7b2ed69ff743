"""How much the loss hangs on each head's output (Michel et al. 2019, section 4.1).

    I_h = E_x |∂L(x)/∂ξ_h|   at ξ = 1,

ξ_h being the head's gate and L(x) the mean cross-entropy of the tokens of a sentence x, its end
token included, without label smoothing. The absolute value is taken sentence by sentence: taken
of a batch, gradients of different signs would cancel.

Legend: B sentences of a batch, T target, N predicted tokens, L layers, H heads, D d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from core.decoding.batching import batches_by_length, padded
from core.decoding.search import source_batch
from core.heads import AttentionKind
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
    """I_h of every head, in nats a token: [L, H] for each kind, not a number for a pruned head.

    Args:
        model: in evaluation mode.
        pairs: at least one.
        batch_tokens: sentences × longest side in a batch, padding included.
        progress: told how many pairs are done; what it raises ends the work.
    """
    config = model.config
    total = {kind: np.zeros((config.layers(kind), config.heads(kind))) for kind in AttentionKind}
    lengths = [1 + max(len(source), len(target)) for source, target in pairs]
    done = 0
    for batch in batches_by_length(range(len(pairs)), lengths, batch_tokens):
        gradients = _gradients(model, [pairs[index] for index in batch])
        for kind, gradient in gradients.items():
            total[kind] += gradient.abs().sum(0, dtype=torch.float64).cpu().numpy()
        done += len(batch)
        progress(done)
    for kind, summed in total.items():
        for layer, row in enumerate(summed):
            row[np.setdiff1d(np.arange(len(row)), config.kept_heads(kind, layer))] = np.nan
    return {kind: summed / len(pairs) for kind, summed in total.items()}


def layer_normalised(values: Importance) -> Importance:
    """I_h / ‖I‖₂ over the heads of a layer, as the paper compares layers; [L, H] of each kind."""
    return {
        kind: of_kind / np.sqrt(np.nansum(of_kind**2, axis=1, keepdims=True))
        for kind, of_kind in values.items()
    }


def _gradients(model: Transformer, pairs: Sequence[Pair]) -> dict[AttentionKind, Tensor]:
    """∂L(x)/∂ξ of each sentence x: [B, L, H] of each kind."""
    gates = Gates.open(model.config, batch=len(pairs)).requires_grad()
    with torch.enable_grad(), gated(model, gates):
        loss = _sentence_losses(model, pairs).sum()
    kinds = list(gates.factors)
    found = torch.autograd.grad(loss, [gates.factors[kind] for kind in kinds])
    return dict(zip(kinds, found, strict=True))


def _sentence_losses(model: Transformer, pairs: Sequence[Pair]) -> Tensor:
    """L(x) of each sentence, [B]."""
    config = model.config
    source = source_batch(model, [source for source, _ in pairs])
    fed = padded([[config.bos_id, *ids] for _, ids in pairs], config.pad_id, model.device)
    wanted = padded([[*ids, config.eos_id] for _, ids in pairs], config.pad_id, model.device)
    real = wanted != config.pad_id  # [B, T]
    hidden = model.decode(fed, model.encode(source), source)  # [B, T, D]
    of_tokens = F.cross_entropy(model.logits(hidden[real]), wanted[real], reduction="none")  # [N]
    sums = of_tokens.new_zeros(len(pairs)).index_add(0, real.nonzero()[:, 0], of_tokens)
    return sums / real.sum(dim=1)
