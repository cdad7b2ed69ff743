"""BLEU and chrF by sacrebleu, with the signatures that make the figures comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from sacrebleu.metrics import BLEU, CHRF


@dataclass(frozen=True, slots=True)
class Scores:
    """The BLEU and chrF of a whole corpus, 0 to 100."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str

    def to_dict(self) -> dict[str, float | str]:
        return {
            "bleu": self.bleu,
            "chrf": self.chrf,
            "bleu_signature": self.bleu_signature,
            "chrf_signature": self.chrf_signature,
        }


def tokenizer_for(language: str) -> str:
    """How sacrebleu cuts a language into words for BLEU: 13a, or what that cannot do.

    Japanese and Korean are cut into characters, since their analysers are packages of their own.
    """
    return {"zh": "zh", "ja": "char", "ko": "char"}.get(language, "13a")


def score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    test_set: str | None = None,
    pair: str | None = None,
) -> Scores:
    """Score hypotheses against references with sacrebleu.

    Args:
        tokenize: how sacrebleu cuts text into words for BLEU, "13a" for ordinary
            text, "none" for text whose words and punctuation stand apart already.
        test_set, pair: for the signatures, as sacrebleu names them.
        hypotheses: one translation for each source sentence.
        references: for each source sentence one or more translations; how many may differ.

    Raises:
        ValueError: no sentence, different numbers of them, or a sentence without a reference.
    """
    if not hypotheses or len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses, {len(references)} lists of references")
    if not all(references):
        raise ValueError("a sentence has no reference")
    most = max(len(of_sentence) for of_sentence in references)
    # sacrebleu wants the first references of all sentences, then the second ones, …, None where
    # there is none, which its annotations forget.
    streams = cast(
        "list[list[str]]",
        [
            [of_sentence[index] if index < len(of_sentence) else None for of_sentence in references]
            for index in range(most)
        ],
    )
    bleu, chrf = BLEU(tokenize=tokenize), CHRF()
    bleu_score = bleu.corpus_score(list(hypotheses), streams).score
    chrf_score = chrf.corpus_score(list(hypotheses), streams).score
    signatures = [metric.get_signature() for metric in (bleu, chrf)]
    for signature in signatures:
        signature.info |= {"test": test_set, "lang": pair}
    return Scores(bleu_score, chrf_score, *map(str, signatures))
