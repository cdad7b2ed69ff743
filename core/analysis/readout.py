"""The decoder's states read as words: the layer lens, and the direct contribution of each part.

The lens puts each state through the final norm with the state's own statistics, as if the model
ended there. Parts of the last state are put through every norm with the statistics of the whole:

    J(c) = γ ⊙ (c − mean c) / σ

which is linear once σ is given. The first asks what a layer would say, the second what a part adds
to what the model does say.

Legend: L layers, P positions, K words, N parts, W words asked for, D d_model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.analysis.decomposition import DecompositionError
from core.analysis.direct import DirectParts, Part, Pushed, PushedWords, Source
from core.analysis.lens import LayerLens
from core.decoding.search import proceed
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.layers import DecoderLayer
from core.model.product import Linear
from core.model.transformer import Transformer
from core.trace.record_states import sublayers
from core.trace.states import States, Sublayer
from core.trace.trace import Trace

TOP = 5
"""Words that the lens names."""

TOLERANCE = 1e-4
"""By how much the parts may miss the decoder's output, over max(1, its largest number)."""

_CHUNK = 1 << 22  # scores that are held at a time


@torch.inference_mode()
def layer_lens(
    model: Transformer,
    trace: Trace,
    states: States,
    *,
    top: int = TOP,
    check: Callable[[], None] = proceed,
) -> LayerLens:
    """Read the words of the vocabulary in each layer's state.

    Args:
        states: those of the trace; the lens has their target positions.
        check: called before every chunk; what it raises ends the work.
    """
    streams = torch.from_numpy(states.decoder.streams()).to(model.source_embedding.weight)
    layers, positions, width = streams.shape
    wanted = torch.tensor(
        [trace.predicted_tokens[position].id for position in states.decoder.positions],
        device=model.device,
        dtype=torch.long,
    ).repeat(layers)
    rows = model.decoder_norm(streams.view(-1, width))
    size = max(1, _CHUNK // model.config.target_vocabulary)
    ids, probabilities, predicted, ranks = [], [], [], []
    for start in range(0, max(1, len(rows)), size):
        check()
        # Not logsumexp, whose exponential is many times slower where it comes near to 0.
        scores = model.logits(rows[start : start + size]).log_softmax(dim=1)
        own = scores.gather(1, wanted[start : start + size, None])
        best = scores.topk(min(top, scores.shape[1]), dim=1)
        ids.append(best.indices)
        probabilities.append(best.values.exp())
        predicted.append(own[:, 0].exp())
        ranks.append((scores > own).sum(dim=1, dtype=torch.int32) + 1)

    def shaped(chunks: list[Tensor]) -> NDArray[np.generic]:
        whole = torch.cat(chunks).cpu()
        return whole.view(layers, positions, *whole.shape[1:]).numpy()

    return LayerLens(
        ids=shaped(ids).astype(np.int64),
        probabilities=shaped(probabilities).astype(np.float32),
        predicted=shaped(predicted).astype(np.float32),
        ranks=shaped(ranks).astype(np.int64),
    )


@torch.inference_mode()
def direct_parts(model: Transformer, states: States, index: int) -> DirectParts:
    """Take the decoder's output at one position into its parts, in float64.

    Args:
        index: into the recorded target positions, ``states.decoder.positions``.

    Raises:
        UserError: the model's layers are in 8 bits.
        DecompositionError: the parts miss the real output by more than ``TOLERANCE``.
    """
    if model.int8_output is not None:
        raise UserError(
            "Contributions to the logits need the weights as they were trained; open the model "
            "without 8-bit layers."
        )
    stack = states.decoder
    embedded, positioned = (
        torch.from_numpy(each[index]).double().to(model.device)
        for each in (stack.embedded, stack.positioned)
    )
    parts = [Part(Source.EMBEDDING), Part(Source.POSITION)]
    vectors = torch.stack([embedded, positioned - embedded])  # [N, D]
    for number, (layer, recorded) in enumerate(
        zip(model.decoder_layers(), stack.layers, strict=True)
    ):
        for (sublayer, _, norm, last), state in zip(sublayers(layer), recorded, strict=True):
            hidden = torch.from_numpy(state.hidden[index]).double().to(model.device)
            new = list(_added(layer, number, sublayer, last, hidden))
            parts += [part for part, _ in new]
            vectors = torch.cat([vectors, *(vector[None] for _, vector in new)])
            if not state.pre_norm:
                vectors = _through(norm, vectors)
                parts.append(Part(Source.NORM, number, sublayer))
    if isinstance(model.decoder_norm, nn.LayerNorm):
        vectors = _through(model.decoder_norm, vectors)
        parts.append(Part(Source.NORM))
    output = torch.from_numpy(stack.output[index]).double().to(model.device)
    error = float((vectors.sum(dim=0) - output).abs().max() / output.abs().max().clamp(min=1))
    if not error <= TOLERANCE:
        raise DecompositionError(f"The parts miss the decoder's output by {error:.1e}.")
    return DirectParts(tuple(parts), vectors.cpu().numpy(), error)


def _added(
    layer: DecoderLayer, number: int, sublayer: Sublayer, last: Linear, hidden: Tensor
) -> Iterator[tuple[Part, Tensor]]:
    """What a sub-layer adds, in parts; ``hidden`` is what its last matrix reads."""
    matrix = last.weight.double()
    if sublayer is Sublayer.FEED_FORWARD:
        yield Part(Source.FEED_FORWARD, number, sublayer), matrix @ hidden
    else:
        crossed = sublayer is Sublayer.CROSS_ATTENTION
        block = layer.cross_attention if crossed else layer.self_attention
        kind = AttentionKind.CROSS if crossed else AttentionKind.DECODER_SELF
        for place, head in enumerate(block.heads):
            columns = slice(place * block.d_v, (place + 1) * block.d_v)
            part = Part(Source.HEAD, number, sublayer, Head(kind, number, head))
            yield part, matrix[:, columns] @ hidden[columns]
    if last.bias is not None:
        yield Part(Source.BIAS, number, sublayer), last.bias.double()


def _through(norm: nn.LayerNorm, vectors: Tensor) -> Tensor:
    """J of each part [N, D], with σ of their sum, and β as one more: [N + 1, D]."""
    sigma = (vectors.sum(dim=0).var(correction=0) + norm.eps).sqrt()
    centred = vectors - vectors.mean(dim=1, keepdim=True)
    return torch.cat([centred * norm.weight.double() / sigma, norm.bias.double()[None]])


@torch.inference_mode()
def contributions_to(
    model: Transformer, direct: DirectParts, ids: Sequence[int]
) -> NDArray[np.float64]:
    """Return what each part contributes to the logits of these words, and the output's bias last:
    [N + 1, W]. The sum over parts is the logit, of a suppressed word the one that −∞ replaces."""
    chosen = torch.tensor(ids, dtype=torch.long, device=model.device)
    words = model.output_embedding.weight[chosen].double()  # [W, D]
    vectors = torch.from_numpy(direct.vectors).to(model.device)
    bias = model.output_bias
    last = torch.zeros_like(words[:, 0]) if bias is None else bias[chosen].double()
    return torch.cat([vectors @ words.T, last[None]]).cpu().numpy()


@torch.inference_mode()
def mean_contributions(model: Transformer, direct: DirectParts) -> NDArray[np.float64]:
    """Return what each part contributes to the logits of all words on average, and the output's
    bias last: [N + 1]. Softmax ignores what all logits share."""
    table, bias = model.output_embedding.weight, model.output_bias
    mean = table.mean(dim=0, dtype=torch.float64)  # [D]
    vectors = torch.from_numpy(direct.vectors).to(model.device)
    last = torch.zeros_like(mean[0]) if bias is None else bias.mean(dtype=torch.float64)
    return torch.cat([vectors @ mean, last[None]]).cpu().numpy()


@torch.inference_mode()
def logit_of(model: Transformer, states: States, index: int, id: int) -> float:
    """Return the model's own logit of a word at a recorded target position."""
    output = torch.from_numpy(states.decoder.output[index])
    return float(model.logits(output.to(model.output_embedding.weight))[id])


@torch.inference_mode()
def pushed_words(
    model: Transformer, direct: DirectParts, indices: Sequence[int], count: int = TOP
) -> PushedWords:
    """Return the target words that some parts together, such as one head, push up and down most.

    Changes are against the mean over the vocabulary, since softmax ignores what all logits share.
    """
    vector = torch.from_numpy(direct.vectors[list(indices)].sum(axis=0))
    table = model.output_embedding.weight
    changes = table @ vector.to(table)  # [V]
    changes = changes - changes.mean()
    changes[list(model.config.suppressed_ids)] = 0.0  # never words
    count = min(count, len(changes))
    up, down = (changes.topk(count, largest=largest) for largest in (True, False))
    return PushedWords(
        *(tuple(map(Pushed, best.indices.tolist(), best.values.tolist())) for best in (up, down))
    )
