"""A model of the paper's base shape with random weights, and texts of a given number of tokens."""

from __future__ import annotations

from core.bundled import model_path
from core.checkpoints.native import Checkpoint, load_checkpoint
from core.config import ModelConfig
from core.corpus.grammar.generate import generate
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer


def large_checkpoint() -> Checkpoint:
    """6 + 6 layers of 8 heads, d_model 512, with the bundled model's vocabulary.

    Its output bias makes it end a translation at once, so a long text costs its encoding.
    """
    tokenizer = load_checkpoint(model_path(None)).tokenizer
    config = ModelConfig(vocab_size=tokenizer.vocab_size, output_bias=True)
    model = Transformer(config).eval()
    initialise(model, seed=1)
    assert model.output_bias is not None
    model.output_bias.data[tokenizer.eos_id] = 1e3
    return Checkpoint(model, tokenizer, {})


def source_text(tokens: int, tokenizer: Tokenizer) -> str:
    """Sentences of the generated corpus, cut after so many tokens."""
    text = " ".join(one.source for one in generate(max(20, tokens // 4), seed=5, split="test"))
    return text[: tokenizer.tokens(text)[tokens - 1].end]
