"""From text to ids, pair by pair or a whole corpus into its store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from core.corpus.read_report import Found
from core.corpus.store import PairStore
from core.text.tokenizer import Tokenizer
from core.training.pairs import EncodedPair
from core.training.texts import TrainingRow, chunks


def encode_pair(source: str, target: str, tokenizer: Tokenizer) -> EncodedPair:
    """Encode both sides with their end token."""
    end = [tokenizer.eos_id]
    return EncodedPair(tokenizer.encode(source) + end, tokenizer.encode(target) + end)


def fits(pair: EncodedPair, max_length: int) -> bool:
    return max(len(pair.source), len(pair.target)) <= max_length


def encode_rows(
    rows: Iterator[TrainingRow], tokenizer: Tokenizer, max_length: int, store: PairStore
) -> None:
    """Append the pairs that fit, starting where the store ends, chunk by chunk.

    Raises:
        UserError: the store cannot be written.
    """
    progress = store.progress
    end = [tokenizer.eos_id]
    for chunk in chunks(islice(rows, progress.read, None)):
        sources, targets = [], []
        for (name, line, _, _), source, target in zip(
            chunk,
            tokenizer.encode_all(source for _, _, source, _ in chunk),
            tokenizer.encode_all(target for _, _, _, target in chunk),
            strict=True,
        ):
            if max(len(source), len(target)) < max_length:
                sources.append(source + end)
                targets.append(target + end)
            else:
                progress.left_out.setdefault(name, Found()).note(line)
        store.append(sources, targets, read=len(chunk))
    store.finish()
