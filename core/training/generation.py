"""The generated corpus, epoch by epoch, made in a process of its own while the model trains."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from core.corpus.grammar.generate import generate
from core.text.tokenizer import Tokenizer
from core.training.gloss import GlossEncoder
from core.training.pairs import EncodedPair, EncodedPairs


def encode_pair(source: str, target: str, tokenizer: Tokenizer) -> EncodedPair:
    """Both sides with their end token."""
    end = [tokenizer.eos_id]
    return EncodedPair(tokenizer.encode(source) + end, tokenizer.encode(target) + end)


def generated_pairs(
    tokenizer: Tokenizer, *, count: int, seed: int, glosses: bool, max_length: int
) -> EncodedPairs:
    """``count`` training sentences of the grammar, those longer than ``max_length`` left out."""
    sentences = generate(count, seed=seed, split="train")
    if glosses:
        pairs = map(GlossEncoder(tokenizer).encode, sentences)
    else:
        pairs = (encode_pair(each.source, each.target, tokenizer) for each in sentences)
    return EncodedPairs.pack([pair for pair in pairs if fits(pair, max_length)])


def fits(pair: EncodedPair, max_length: int) -> bool:
    return max(len(pair.source), len(pair.target)) <= max_length


class EpochGenerator:
    """Epoch e is ``generated_pairs`` with seed + e; the next one is made ahead of time.

    Usable as a context manager; ``close`` ends the process.
    """

    def __init__(
        self, tokenizer: Tokenizer, *, count: int, seed: int, glosses: bool, max_length: int
    ) -> None:
        self._tokenizer = tokenizer
        self._count = count
        self._seed = seed
        self._glosses = glosses
        self._max_length = max_length
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._ahead: int | None = None

    def epoch(self, epoch: int) -> EncodedPairs:
        """The pairs of this epoch: those made ahead, or made now."""
        if epoch == self._ahead and self._connection is not None:
            self._ahead = None
            try:
                pairs: EncodedPairs = self._connection.recv()
                return pairs
            except EOFError:  # the process died; made here, an error shows itself
                self.close()
        return generated_pairs(
            self._tokenizer,
            count=self._count,
            seed=self._seed + epoch,
            glosses=self._glosses,
            max_length=self._max_length,
        )

    def make_ahead(self, epoch: int) -> None:
        """Start on this epoch in the background, one at a time."""
        if self._ahead is not None:
            return
        if self._connection is None:
            self._start()
        assert self._connection is not None
        self._connection.send(epoch)
        self._ahead = epoch

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.terminate()
            self._process.join()
        self._process = self._connection = self._ahead = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(
                theirs,
                self._tokenizer.model_bytes,
                self._count,
                self._seed,
                self._glosses,
                self._max_length,
            ),
            name="epoch-generator",
            daemon=True,
        )
        self._process.start()
        theirs.close()  # so that each side sees the other's end


def _serve(
    connection: Connection,
    tokenizer_model: bytes,
    count: int,
    seed: int,
    glosses: bool,
    max_length: int,
) -> None:
    """Answer each epoch number with its pairs, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the trainer's to handle
    if hasattr(os, "nice"):
        os.nice(10)
    tokenizer = Tokenizer(tokenizer_model)
    while True:
        try:
            epoch = connection.recv()
        except EOFError:
            return
        connection.send(
            generated_pairs(
                tokenizer, count=count, seed=seed + epoch, glosses=glosses, max_length=max_length
            )
        )
