"""Gloss targets: which piece of German the encoder's output at an English word must predict.

The gloss loss is the cross-entropy between that piece, the first of the aligned German word, and
the encoder's output at the first piece of the English word, read through the output embedding as
the decoder's output is. Pronouns, articles and verbs have one: their German form depends on other
words of the sentence, so the encoder must bind them, instead of leaving that to the decoder. No
attention map is supervised.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.corpus.grammar.sentence import PUNCTUATION, Sentence
from core.text.tokenizer import Tokenizer
from core.training.pairs import EncodedPair

GLOSSED_TAGS = frozenset({"pronoun", "article", "verb"})


class GlossEncoder:
    """Encodes generated sentences with their glosses; thousands a second."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._starts_word = [tokenizer.token(id).starts_word for id in range(tokenizer.vocab_size)]

    def encode(self, sentence: Sentence) -> EncodedPair:
        """Encode both sides with their end token, with a gloss for each aligned word of
        ``GLOSSED_TAGS``.

        A word aligned with several German words ("calls": "ruft … an") is glossed by the first.
        """
        source = self._tokenizer.encode(sentence.source)
        target = self._tokenizer.encode(sentence.target)
        first_target_word: dict[int, int] = {}
        for source_word, target_word in sentence.alignment:
            if sentence.source_tags[source_word] in GLOSSED_TAGS:
                first_target_word.setdefault(source_word, target_word)
        source_pieces = self._first_pieces(source, sentence.source_words)
        target_pieces = self._first_pieces(target, sentence.target_words)
        end = [self._tokenizer.eos_id]
        return EncodedPair(
            source=source + end,
            target=target + end,
            glosses=[
                (source_pieces[source_word], target[target_pieces[target_word]])
                for source_word, target_word in first_target_word.items()
            ],
        )

    def _first_pieces(self, ids: Sequence[int], words: Sequence[str]) -> dict[int, int]:
        """Where each word that is no punctuation mark begins: those are what spaces separate."""
        begins = (at for at, id in enumerate(ids) if self._starts_word[id])
        spaced = (index for index, word in enumerate(words) if word not in PUNCTUATION)
        return dict(zip(spaced, begins, strict=True))
