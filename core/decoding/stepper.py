"""Decoding by hand: one token at a time, forwards and back, with what each step computed.

Legend: H heads, t + 1 target positions up to the current one, S source, d_k and d_v head widths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from core.decoding.candidates import Candidate, named
from core.decoding.choice import best_next
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import source_batch
from core.fields import require
from core.model.recording import Projections, Recording
from core.model.transformer import Transformer


@dataclass(frozen=True, slots=True)
class Step:
    """The decoder at one position.

    Attributes:
        index: the position, from 0.
        fed: the token it was fed; the begin token at position 0.
        candidates: the most probable next tokens, best first.
        self_attention: for each layer this position's own query, key and value, [H, 1, d].
        cross_queries: for each layer this position's query to the source, [H, 1, d_k], beside
            the keys and values [H, S, d] of the whole source, which all steps share.
    """

    index: int
    fed: int
    candidates: tuple[Candidate, ...]
    self_attention: tuple[Projections, ...]
    cross_attention: tuple[Projections, ...]


class Stepper:
    """A walk through the decoding of one sentence.

    ``steps`` are the positions computed so far and ``position`` the current one. ``tokens`` are
    what was chosen: ``tokens[i]`` after ``steps[i]``. Going back forgets nothing; choosing another
    token than before forgets what came after it.
    """

    def __init__(
        self,
        model: Transformer,
        source: Sequence[int],
        *,
        candidates: int = 8,
        config: SearchConfig = GREEDY,
    ) -> None:
        """
        Args:
            model: in evaluation mode.
            source: ids without specials.
            candidates: how many next tokens each step names.
            config: its limits on the output's length hold here too.
        """
        self._model = model
        self._count = candidates
        self.longest = config.longest_output(len(source) + 1, model.config)
        with torch.inference_mode():
            batch = source_batch(model, [source])
            memory = model.encode(batch)
            self._cache = model.start_cache(memory, batch, capacity=self.longest)
        self.position = 0
        self.tokens: list[int] = []
        self.steps = [self._feed(model.config.bos_id, 0)]

    @property
    def current(self) -> Step:
        return self.steps[self.position]

    @property
    def finished(self) -> bool:
        """Whether the end token was chosen at the current step."""
        return self.tokens[self.position :] == [self._model.config.eos_id]

    def step(self, token: int | None = None) -> Step:
        """Choose the next token and go on to the step that is fed it.

        Without ``token`` it is the one that was chosen here before, or else the most probable.
        After the end token nothing follows: the current step stays.

        Raises:
            UserError: a token that cannot come next.
        """
        if token is None:
            remembered = self.position < len(self.tokens)
            token = self.tokens[self.position] if remembered else self.current.candidates[0].id
        self._require_possible(token)
        if self.tokens[self.position : self.position + 1] != [token]:
            self._branch(token)
        if token != self._model.config.eos_id:
            self.position += 1
        return self.current

    def back(self) -> Step:
        """Go to the step before; the first one has none and stays."""
        self.position = max(0, self.position - 1)
        return self.current

    def jump(self, position: int) -> Step:
        """Go to a position; one not yet computed is reached by ``step()``, or the end before it."""
        self.position = max(0, min(position, len(self.steps) - 1))
        while self.position < position and not self.finished:
            self.step()
        return self.current

    def self_attention(self, layer: int) -> Projections:
        """The current query [H, 1, d_k], with the keys and values [H, t + 1, d] it attends to."""
        walked = [step.self_attention[layer] for step in self.steps[: self.position + 1]]
        return Projections(
            walked[-1].query,
            torch.cat([one.key for one in walked], dim=1),
            torch.cat([one.value for one in walked], dim=1),
        )

    def cross_attention(self, layer: int) -> Projections:
        """The current query [H, 1, d_k], with the keys and values [H, S, d] of the source."""
        return self.current.cross_attention[layer]

    def _require_possible(self, token: int) -> None:
        config = self._model.config
        never = (config.pad_id, config.bos_id, *config.suppressed_ids)
        possible = 0 <= token < config.target_vocabulary and token not in never
        require(possible, "token", token, "an id of the vocabulary, not begin or padding")
        if self.position + 1 == self.longest:
            require(token == config.eos_id, "token", token, "the end token: no room for more")

    def _branch(self, token: int) -> None:
        """Forget what came after the current step and compute the one that ``token`` leads to."""
        del self.tokens[self.position :]
        del self.steps[self.position + 1 :]
        if token != self._model.config.eos_id:
            self.steps.append(self._feed(token, self.position + 1))
        self.tokens.append(token)

    @torch.inference_mode()
    def _feed(self, token: int, index: int) -> Step:
        recording = Recording()
        self._cache.length = index
        tokens = torch.tensor([token], device=self._model.device)
        logits = self._model.step(tokens, self._cache, recording).float()  # [1, V]
        must_end = [index + 1 == self.longest]
        best, ids = best_next(logits, self._count, self._model.config, must_end)
        (candidates,) = named(best, ids)
        own = tuple(
            Projections(
                one.query[0].clone(), one.key[0, :, -1:].clone(), one.value[0, :, -1:].clone()
            )
            for one in recording.decoder_self
        )
        cross = tuple(
            Projections(one.query[0].clone(), one.key[0], one.value[0]) for one in recording.cross
        )
        return Step(index, token, candidates, own, cross)
