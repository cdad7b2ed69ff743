"""A model whose next-token probabilities are written by hand, on the real cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from core.config import ModelConfig
from core.model.cache import DecoderCache
from core.model.recording import Recording
from core.model.transformer import Transformer

END = "."
LETTERS = "abcdefgh"
CONFIG = ModelConfig(
    vocab_size=4 + len(LETTERS),
    d_model=4,
    encoder_layers=1,
    decoder_layers=1,
    encoder_heads=1,
    decoder_heads=1,
    encoder_d_ff=4,
    decoder_d_ff=4,
)

Script = Callable[[str], Mapping[str, float]]


def token_id(letter: str) -> int:
    return CONFIG.eos_id if letter == END else 4 + LETTERS.index(letter)


def words(ids: Sequence[int]) -> str:
    return "".join(LETTERS[id - 4] for id in ids)


def table(probabilities: Mapping[str, Mapping[str, float]]) -> Script:
    """What comes after each prefix; a prefix that is not in the table ends."""
    return lambda prefix: probabilities.get(prefix, {END: 1.0})


class ScriptedModel(Transformer):
    """Sentence number n follows script number n.

    Tokens that were fed are kept where keys would be, and which sentence this is where the keys of
    the source would be: so both take every way that ``reorder`` and ``keep`` send them.
    """

    def __init__(self, *scripts: Script) -> None:
        super().__init__(CONFIG)
        self.scripts = scripts
        self.steps = 0
        self.rows: list[int] = []  # of each step
        self.eval()

    def sources(self) -> list[list[int]]:
        return [[4 + number] for number in range(len(self.scripts))]

    def encode(self, source: Tensor, recording: Recording | None = None) -> Tensor:
        return source[..., None].float()  # [B, S, 1]

    def start_cache(
        self, memory: Tensor, source: Tensor, *, rows_per_sentence: int = 1, capacity: int
    ) -> DecoderCache:
        cross = [(memory[:, None], memory[:, None])]
        return DecoderCache(CONFIG, cross, None, rows_per_sentence, capacity)

    def step(
        self, tokens: Tensor, cache: DecoderCache, recording: Recording | None = None
    ) -> Tensor:
        self.steps += 1
        self.rows.append(len(tokens))
        (layer,) = cache.layers()
        layer.new_keys[:, 0, :, 0] = tokens.view(cache.sentences, -1).float()
        fed = layer.keys[:, 0, :, 0]  # [B, filled + R]
        cache.length += 1
        logits = torch.full((len(tokens), CONFIG.vocab_size), float("-inf"))
        for row in range(len(tokens)):
            sentence, own = divmod(row, cache.rows_per_sentence)
            past = cache.past[sentence, own, : fed.shape[1]]
            history = fed[sentence][past].int().tolist()
            assert history[0] == CONFIG.bos_id
            assert len(history) == cache.length
            script = self.scripts[int(layer.cross_keys[sentence, 0, 0, 0]) - 4]
            for letter, probability in script(words(history[1:])).items():
                logits[row, token_id(letter)] = math.log(probability)
        return logits
