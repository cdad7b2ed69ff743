"""Every head of a model measured over a corpus: statistics, roles, and evidence for these.

Legend: N sentences, V vocabulary.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.analysis.claims import (
    FARTHEST_OFFSET,
    FREQUENT_TOKENS,
    Broad,
    Claim,
    Diagonal,
    Positional,
    RareWord,
    Sink,
)
from core.analysis.evidence import Wanted, best_and_worst, witnesses
from core.analysis.gold import GoldTally
from core.analysis.passes import Pair, recorded_passes
from core.analysis.roles import Role, gold_roles, measured_role, one_of_each
from core.analysis.statistics import CorpusStatistics, StatisticsSum, cells_of
from core.analysis.tally import ClaimTally
from core.corpus.grammar.sentence import Sentence
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.text.tokens import TokenKind


@dataclass(frozen=True, slots=True)
class MeasuredHead:
    head: Head
    statistics: CorpusStatistics
    roles: tuple[Role, ...]


def measure_heads(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[Pair],
    *,
    counts: Sequence[int],
    gold: Sequence[Sentence] = (),
    frequent_tokens: int = FREQUENT_TOKENS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[MeasuredHead]:
    """Measure all heads, kind by kind, layer by layer.

    Args:
        model: in evaluation mode.
        pairs: one or more, each forced upon the decoder.
        counts: [V], how often each source token occurs in a large text, for what is rare.
        gold: the generated sentences that the pairs are, in the same order; empty for others.
        frequent_tokens: how many of the most frequent ones are not rare.
        progress: told how many sentences were passed through the model, of 2N; what it raises
            ends the work.
    """
    of_source, of_target = (_special(side, model.device) for side in (tokenizer, tokenizer.target))
    special = {
        kind: of_target if kind is AttentionKind.DECODER_SELF else of_source
        for kind in AttentionKind
    }
    marks = _marks(tokenizer, model.device)
    rare = RareWord(torch.tensor(counts, device=model.device), frequent_tokens)
    tally = ClaimTally([*_claims(marks), rare], len(pairs))
    statistics = StatisticsSum()
    links = GoldTally(tokenizer, gold) if gold else None
    done = 0
    for passed in recorded_passes(model, pairs):
        for kind in AttentionKind:
            cells = cells_of(passed, kind, special[kind])
            rows = tally.rows(passed, cells)
            for layer in range(passed.layers(kind)):
                weights = passed.weights(kind, layer)
                statistics.add(layer, weights, cells)
                tally.add(passed, kind, layer, weights, rows)
        if links is not None:
            links.add(passed)
        done += len(passed.indices)
        progress(done)

    texts = [pair.source for pair in pairs]
    chosen = [
        (head, outcome, Wanted(outcome.claim, head.kind, head.layer, place, choice))
        for head, place in heads_of(model)
        for outcome in one_of_each(tally.outcomes(head.kind, head.layer, place))
        for choice in [best_and_worst(outcome.scores, outcome.rows, texts)]
    ]
    found = witnesses(
        model,
        pairs,
        special,
        [wanted for _, _, wanted in chosen],
        progress=lambda share: progress(len(pairs) + round(share * len(pairs))),
    )
    roles: dict[Head, list[Role]] = defaultdict(list)
    for (head, outcome, wanted), shown in zip(chosen, found, strict=True):
        roles[head].append(measured_role(outcome, wanted.choice, shown, pairs))
    for head, role in gold_roles(links.scores() if links else (), pairs):
        roles[head].append(role)
    return [
        MeasuredHead(head, statistics.of(head, place), tuple(roles[head]))
        for head, place in heads_of(model)
    ]


def heads_of(model: Transformer) -> Iterator[tuple[Head, int]]:
    """Each head that the model has, and its place in the maps of its layer."""
    config = model.config
    for kind in AttentionKind:
        for layer in range(config.layers(kind)):
            for place, head in enumerate(config.kept_heads(kind, layer)):
                yield Head(kind, layer, head), place


def _claims(marks: Tensor) -> list[Claim]:
    return [
        *(Positional(offset) for offset in range(-FARTHEST_OFFSET, FARTHEST_OFFSET + 1)),
        *(Sink(where, marks) for where in ("end", "first", "final mark")),
        Broad(),
        Diagonal(),
    ]


def _special(tokenizer: Tokenizer, device: torch.device) -> Tensor:
    """Which of the vocabulary are special tokens, [V]."""
    tokens = (tokenizer.token(id) for id in range(tokenizer.vocab_size))
    return torch.tensor([token.kind is TokenKind.SPECIAL for token in tokens], device=device)


def _marks(tokenizer: Tokenizer, device: torch.device) -> Tensor:
    """Which of the vocabulary are punctuation marks, [V]."""
    tokens = (tokenizer.token(id) for id in range(tokenizer.vocab_size))
    marks = [
        token.kind is TokenKind.PIECE
        and all(unicodedata.category(character).startswith("P") for character in token.label)
        for token in tokens
    ]
    return torch.tensor(marks, device=device)
