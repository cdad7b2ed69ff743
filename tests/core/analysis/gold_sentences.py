"""Sentences with gold links for the tests of the gold scores."""

from __future__ import annotations

from collections.abc import Sequence

from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.generate import generate, minimal_pairs
from core.corpus.grammar.sentence import PUNCTUATION, Sentence, detokenise
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from tests.core.model.small import small_config

Gold = tuple[DependencyKind, int, int]


def copied(text: str, *links: Gold) -> Sentence:
    """A text as its own translation, word by word, with the same links on both sides."""
    words = tuple(text.split(" "))
    return Sentence(
        source=detokenise(words),
        target=detokenise(words),
        family="copied",
        split="test",
        source_words=words,
        target_words=words,
        source_tags=tuple("punctuation" if word in PUNCTUATION else "noun" for word in words),
        alignment=tuple((index, index) for index in range(len(words))),
        dependencies=tuple(Dependency(kind, side, *ends) for kind, *ends in links for side in Side),
        tree="",
    )


def generated() -> list[Sentence]:
    return [
        *(sentence for pair in minimal_pairs(6, seed=3, split="test") for sentence in pair),
        *generate(40, seed=5, split="test"),
    ]


def splitting_tokenizer(sentences: Sequence[Sentence]) -> Tokenizer:
    """So few pieces that most words are several."""
    texts = [text for each in sentences for text in (each.source, each.target)]
    return train_tokenizer(texts, 160)


def random_model(tokenizer: Tokenizer) -> Transformer:
    model = Transformer(
        small_config(
            vocab_size=tokenizer.vocab_size,
            encoder_layers=2,
            decoder_layers=3,
            encoder_heads=2,
            decoder_heads=3,
            max_positions=512,
        )
    )
    initialise(model, seed=1)
    for name, parameter in model.named_parameters():
        if "query" in name or "key" in name:
            parameter.data *= 2.0  # maps with something to see in them
    return model.eval()
