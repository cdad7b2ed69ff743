"""Measured heads in words: the names of statistics and roles, and what a score means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_viz.heads.report import IMPORTANCE, MeasuredHead, Role
from transformer_viz.heads.store import GRAMMAR, Measured, Question

_OFFSET = re.compile(r"(?:offset |positional\()([+-]?\d+)\)?")
_GOLD = "gold:"


@dataclass(frozen=True, slots=True)
class Column:
    """
    Attributes:
        short: over a column of numbers.
        share: from 0 to 1, and so coloured on an absolute scale.
    """

    name: str
    short: str
    explanation: str
    digits: int = 2
    share: bool = True


_COLUMNS = {
    "confidence": Column(
        "confidence",
        "conf.",
        "Mean over the queries of the largest weight on a token that is not special "
        "(Voita et al. 2019).",
    ),
    "entropy": Column(
        "entropy",
        "entropy",
        "Mean over the queries of −Σⱼ A log₂ A, in bits (Clark et al. 2019). "
        "Low: the head looks at few tokens.",
        share=False,
    ),
    "entropy_normalised": Column(
        "entropy, normalised",
        "entr. /max",
        "Entropy divided by the most there could be, the logarithm of the number of keys allowed.",
    ),
    "mean_distance": Column(
        "mean distance",
        "dist.",
        "Mean of Σⱼ A·|i − j|, in tokens (Vig & Belinkov 2019).",
        digits=1,
        share=False,
    ),
    "median_distance": Column(
        "median distance",
        "median",
        "Half of all weight lies at most so many tokens away.",
        digits=1,
        share=False,
    ),
    "special_share": Column(
        "on specials", "specials", "Mean weight on tokens such as </s> (Clark et al. 2019)."
    ),
    "sink_score": Column(
        "sink",
        "sink",
        "The most weight that one key gets, averaged over the queries (after Xiao et al. 2023).",
    ),
    "effective_span": Column(
        "effective span",
        "span",
        "exp of the entropy in nats: on how many tokens the weight lies.",
        digits=1,
        share=False,
    ),
    "diagonal_score": Column(
        "diagonal",
        "diagonal",
        "Mean weight at j = round(i·n/m): how far the translation follows the order of the source.",
    ),
    IMPORTANCE: Column(
        "importance",
        "import.",
        "Mean over the sentences of |∂loss/∂gate| (Michel et al. 2019, eq. 2): how much the "
        "translation depends on the head.",
        digits=4,
        share=False,
    ),
}


def column(statistic: str) -> Column:
    """How a statistic is named; one that is not known here has the name that the JSON gives it."""
    offset = _OFFSET.fullmatch(statistic)
    if offset is not None:
        place = _signed(int(offset[1]))
        return Column(
            f"on {place}",
            f"on {place}",
            f"Mean weight at offset {place}, over the queries that have one (Clark et al. 2019).",
        )
    name = statistic.replace("_", " ")
    return _COLUMNS.get(statistic) or Column(name, name, name, share=False)


@dataclass(frozen=True, slots=True)
class RoleName:
    """``short``: for a table; ``claim``: what the head does, as a sentence without its subject."""

    short: str
    claim: str
    definition: str


_LINGUISTIC = (
    "Share of the {0} whose heaviest word is the right one, by the grammar's own annotation. "
    "Baseline: the most frequent distance. Threshold: 10 per cent points more "
    "(Voita et al. 2019)."
)
_ROLES = {
    "sink": RoleName(
        "sink",
        "puts its weight on one token that says nothing",
        "The largest mean weight that one special token or punctuation mark gets "
        "(after Xiao et al. 2023).",
    ),
    "broad": RoleName(
        "broad",
        "looks at everything a little",
        "Share of the queries in which no single token gets more than a tenth (Clark et al. 2019).",
    ),
    "diagonal": RoleName(
        "aligner",
        "follows the order of the source word by word",
        "Mean weight at j = round(i·n/m).",
    ),
    "rare-word": RoleName(
        "rare word",
        "looks at the rarest word of the sentence",
        "Share of the queries whose heaviest token is the rarest of the sentence "
        "(Voita et al. 2019).",
    ),
}
_GOLD_ROLES = {
    "coreference": ("“it”", "from “it” to the noun that is meant", "pronouns"),
    "distractor": ("distractor", "from “it” to the noun that is not meant", "pronouns"),
    "relative": ("relative", "from the relative pronoun to its noun", "relative pronouns"),
    "particle": ("particle", "from a separable particle to its verb", "particles"),
    "auxiliary": ("auxiliary", "from the participle to its auxiliary", "participles"),
    "perfect": ("perfect", "from the participle to “has”", "participles"),
    "passive": ("passive", "from the participle to “is”", "participles"),
    "future": ("future", "from the infinitive to “will”", "infinitives"),
    "modal": ("modal", "from the infinitive to its modal verb", "infinitives"),
    "subject": ("subject", "from the verb to its subject", "verbs"),
    "subject_verb": ("subject", "from the verb to its subject", "verbs"),
    "object": ("object", "from the object to its verb", "objects"),
    "indirect_object": ("indirect object", "from the indirect object to its verb", "objects"),
    "possessive": ("possessive", "from “its” to the owner", "possessives"),
    "attribute": ("attribute", "from the adjective to its noun", "adjectives"),
    "predicate": ("predicate", "from the adjective to what it is said of", "adjectives"),
    "subordinate": ("subordinate", "from the verb to its conjunction", "verbs"),
    "comparative": ("comparative", "from “than” to the comparative", "comparisons"),
    "negation": ("negation", "from the negation to its verb", "negations"),
    "coordination": ("coordination", "from a conjunct to the first one", "conjuncts"),
    "question": ("question", "from the question word to its verb", "question words"),
    "alignment": ("alignment", "from a word to its translation", "words"),
}


def role_name(name: str) -> RoleName:
    """How a role is named; one that is not known here has the name that the JSON gives it."""
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        return _positional(int(offset[1]))
    if name.startswith(_GOLD):
        kind = name.removeprefix(_GOLD)
        plain = kind.replace("_", " ").replace("-", " ")
        short, link, words = _GOLD_ROLES.get(
            kind.replace("-", "_"), (plain, f"along the dependency “{plain}”", "words")
        )
        return RoleName(f"gold: {short}", f"looks {link}", _LINGUISTIC.format(words))
    plain = name.replace("_", " ")
    return _ROLES.get(name) or RoleName(plain, plain, "")


def judgement(role: Role) -> str:
    """Score, baseline and threshold in one sentence."""
    words = [f"Score {role.score:.2f}"]
    if role.baseline is not None:
        words.append(f"baseline {role.baseline:.2f}")
    if role.threshold is not None:
        words.append(f"threshold {role.threshold:.2f}")
    verdict = "passed" if role.passed else "not reached"
    return f"{', '.join(words)}: {verdict}."


def roles_in_words(measured: MeasuredHead) -> str:
    """The short names of the roles that it has, for a cell of a table."""
    return ", ".join(role_name(role.name).short for role in measured.passed)


def measured_on(measured: Measured) -> str:
    """As in "1,000 sentences of the generated corpus, 2026-11-30"."""
    return f"{corpus_in_words(measured.question)}, {measured.day}"


def corpus_in_words(question: Question) -> str:
    name = "the generated corpus"
    if question.corpus != GRAMMAR:
        name = ", ".join(Path(part).name for part in question.corpus.split(","))
    return f"{question.sentences:,} sentences of {name}"


def listed(statistics: Sequence[str]) -> list[str]:
    """Statistics in the order of a table: offsets beside each other, importance first."""
    known = list(_COLUMNS)
    order = [IMPORTANCE, *known[: known.index("special_share")]]
    offsets = sorted(
        (name for name in statistics if _OFFSET.fullmatch(name)),
        key=lambda name: int(_OFFSET.fullmatch(name)[1]),  # type: ignore[index]
    )
    order += [*offsets, *known[known.index("special_share") :]]
    return [name for name in dict.fromkeys([*order, *statistics]) if name in statistics]


def _positional(offset: int) -> RoleName:
    place = _signed(offset)
    where = {-1: "the token before", 0: "the token itself", 1: "the token after"}.get(
        offset, f"the token at {place}"
    )
    return RoleName(
        f"position {place}",
        f"looks at {where}",
        f"Share of the queries whose heaviest token, specials apart, is at offset {place} "
        "(Voita et al. 2019).",
    )


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", "−") if offset else "0"
