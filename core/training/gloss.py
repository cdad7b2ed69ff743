"""Gloss targets: which piece of German the encoder's output at an English word must predict.

The gloss loss is the cross-entropy between that piece, the first of the aligned German word, and
the encoder's output at the first piece of the English word, read through the output embedding as
the decoder's output is. Pronouns, articles and verbs have one: their German form depends on other
words of the sentence, so the encoder must bind them, instead of leaving that to the decoder. No
attention map is supervised.
"""

from __future__ import annotations

from core.corpus.grammar.sentence import Sentence, word_spans
from core.text.tokenizer import Tokenizer
from core.text.words import first_pieces
from core.training.pairs import EncodedPair

GLOSSED_TAGS = frozenset({"pronoun", "article", "verb"})


def encode_with_glosses(sentence: Sentence, tokenizer: Tokenizer) -> EncodedPair:
    """Both sides with their end token, and a gloss for each aligned word of ``GLOSSED_TAGS``.

    A word aligned with several German words ("calls": "ruft … an") is glossed by the first.
    """
    source = tokenizer.tokens(sentence.source)
    target = tokenizer.tokens(sentence.target)
    first_target_word: dict[int, int] = {}
    for source_word, target_word in sentence.alignment:
        if sentence.source_tags[source_word] in GLOSSED_TAGS:
            first_target_word.setdefault(source_word, target_word)
    source_pieces = first_pieces(source, word_spans(sentence.source_words))
    target_pieces = first_pieces(target, word_spans(sentence.target_words))
    return EncodedPair(
        source=[*(token.id for token in source), tokenizer.eos_id],
        target=[*(token.id for token in target), tokenizer.eos_id],
        glosses=[
            (source_pieces[source_word], target[target_pieces[target_word]].id)
            for source_word, target_word in first_target_word.items()
        ],
    )
