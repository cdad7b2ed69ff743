"""How well a model does where the grammar knows the truth: whole sentences and "it".

"it" is "er", "sie" or "es" by the gender of the noun it means. A minimal pair is two sentences that
differ in one adjective, and so in that noun; a model that ignores the adjective is right in one of
them only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.corpus.grammar.dependencies import Side
from core.corpus.grammar.generate import generate, minimal_pairs
from core.corpus.grammar.sentence import PUNCTUATION, Sentence
from core.decoding.config import SearchConfig
from core.decoding.translate import translate
from core.evaluation.pronouns import as_pieces, coreference, observe
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer
from core.trace.trace import AttentionKind

CHOOSING_PAIRS = 200
_SURE = 90.0  # per cent of the pairs


@dataclass(frozen=True, slots=True)
class PairScore:
    """The percentages of minimal pairs right in the first sentence, in the second, and in both."""

    first: float
    second: float
    both: float


@dataclass(frozen=True, slots=True)
class HeadScore:
    """A head counted from 0, how often its heaviest word is the antecedent, and its mean weight."""

    layer: int
    head: int
    antecedent: PairScore
    weight: float


@dataclass(frozen=True, slots=True)
class GoldReport:
    """The scores on the held-out test split, in per cent.

    Attributes:
        exact: sentences whose translation is the grammar's, to the character.
        exact_by_family: the same for each family of sentences.
        pronoun_forced: the pronoun is the most probable word after the right beginning.
        pronoun_decoded: the translation found by search has the right pronoun in its place.
        encoder_head: the head of encoder self-attention that finds the antecedent from "it".
        cross_head: the head of cross-attention that finds it when the pronoun is predicted.

    Both heads are those that are right in both sentences of most pairs of the training split; None
    where the model has no head of the kind.
    """

    sentences: int
    pairs: int
    exact: float
    exact_by_family: dict[str, float]
    pronoun_forced: PairScore
    pronoun_decoded: PairScore
    encoder_head: HeadScore | None
    cross_head: HeadScore | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def it_head(self) -> dict[str, Any] | None:
        """The head that shows best what "it" means: kind, layer and head, counted from 0; None
        where the model has heads of neither kind.

        An encoder head that finds the antecedent in nine of ten pairs comes first, since its row is
        that of "it" itself.
        """
        of_kinds = {
            AttentionKind.ENCODER_SELF: self.encoder_head,
            AttentionKind.CROSS: self.cross_head,
        }
        heads = {kind: head for kind, head in of_kinds.items() if head is not None}
        if not heads:
            return None
        kind, best = max(
            heads.items(),
            key=lambda one: (
                one[0] is AttentionKind.ENCODER_SELF and one[1].antecedent.both >= _SURE,
                one[1].antecedent.both,
            ),
        )
        return {"kind": kind.value, "layer": best.layer, "head": best.head}


def gold_report(
    model: Transformer,
    tokenizer: Tokenizer,
    *,
    sentences: int,
    pairs: int,
    seed: int,
    search: SearchConfig,
    progress: Callable[[int], None],
) -> GoldReport:
    """Score a model on generated sentences of the test split.

    Args:
        model: in evaluation mode.
        seed: draws the sentences.
        progress: told how many of ``sentences`` + 2 · ``pairs`` are translated.
    """
    test = list(generate(sentences, seed=seed, split="test"))
    exact = exact_matches(model, tokenizer, test, search, progress=progress)
    held_out = _flat(minimal_pairs(pairs, seed=seed, split="test"))
    choosing = _flat(minimal_pairs(CHOOSING_PAIRS, seed=seed, split="train"))
    chosen_by = observe(model, [as_pieces(sentence, tokenizer) for sentence in choosing])
    observed = observe(model, [as_pieces(sentence, tokenizer) for sentence in held_out])
    translations = translate(
        model,
        tokenizer,
        _sources(held_out),
        search,
        progress=lambda done: progress(sentences + done),
    )
    return GoldReport(
        sentences=sentences,
        pairs=pairs,
        exact=100.0 * float(exact.mean()),
        exact_by_family=_by_family(test, exact),
        pronoun_forced=pair_score(observed.predicted),
        pronoun_decoded=pair_score(
            np.array(
                [
                    has_right_pronoun(translation.text, sentence)
                    for translation, sentence in zip(translations, held_out, strict=True)
                ]
            )
        ),
        encoder_head=_best_head(
            chosen_by.encoder_hit, observed.encoder_hit, observed.encoder_weight
        ),
        cross_head=_best_head(chosen_by.cross_hit, observed.cross_hit, observed.cross_weight),
    )


def exact_matches(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: Sequence[Sentence],
    search: SearchConfig,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> npt.NDArray[np.bool_]:
    """Whether each sentence is translated as the grammar does, to the character.

    ``progress`` is told how many are translated.
    """
    translations = translate(model, tokenizer, _sources(sentences), search, progress=progress)
    return np.array(
        [
            translation.text == sentence.target
            for translation, sentence in zip(translations, sentences, strict=True)
        ]
    )


def has_right_pronoun(translation: str, sentence: Sentence) -> bool:
    """Whether the word where the pronoun should stand is the pronoun."""
    place = coreference(sentence, Side.TARGET).start
    words = split_words(translation)
    return place < len(words) and words[place] == sentence.target_words[place]


def split_words(text: str) -> list[str]:
    """The opposite of ``detokenise``: punctuation marks become words of their own."""
    for mark in PUNCTUATION:
        text = text.replace(mark, f" {mark} ")
    return text.split()


def pair_score(right: npt.NDArray[np.bool_]) -> PairScore:
    """Score minimal pairs; ``right`` [2 · pairs] has the first and second sentence of each pair in
    turn."""
    first, second = right[0::2], right[1::2]
    return PairScore(
        first=100.0 * float(first.mean()),
        second=100.0 * float(second.mean()),
        both=100.0 * float((first & second).mean()),
    )


def _best_head(
    choosing: npt.NDArray[np.bool_],
    hit: npt.NDArray[np.bool_],
    weight: npt.NDArray[np.float32],
) -> HeadScore | None:
    """The head with most pairs right in ``choosing``, as it does in ``hit``; [2 · pairs, L, H].

    None where all are pruned, so that no weight is a number.
    """
    both = (choosing[0::2] & choosing[1::2]).mean(axis=0)  # [L, H]
    both[np.isnan(weight).any(axis=0)] = np.nan
    if np.isnan(both).all():
        return None
    layer, head = np.unravel_index(int(np.nanargmax(both)), both.shape)
    return HeadScore(
        layer=int(layer),
        head=int(head),
        antecedent=pair_score(hit[:, layer, head]),
        weight=float(weight[:, layer, head].mean()),
    )


def _by_family(sentences: Sequence[Sentence], exact: npt.NDArray[np.bool_]) -> dict[str, float]:
    families = defaultdict(list)
    for sentence, matches in zip(sentences, exact.tolist(), strict=True):
        families[sentence.family].append(matches)
    return {
        family: 100.0 * sum(matches) / len(matches) for family, matches in sorted(families.items())
    }


def _flat(pairs: Iterable[tuple[Sentence, Sentence]]) -> list[Sentence]:
    return [sentence for pair in pairs for sentence in pair]


def _sources(sentences: Sequence[Sentence]) -> list[str]:
    return [sentence.source for sentence in sentences]
