"""Measured heads in words: the names of statistics and roles, and what a score means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.analysis.verdict import FEWEST_CASES, LEAST_WEIGHT
from core.counted import counted
from core.files import is_file
from core.statistics.registry import EFFECT, IMPORTANCE, STATISTICS, Statistic, statistic
from transformer_viz.drawing.numbers import percent
from transformer_viz.heads.report import Alignment, MeasuredHead, Role
from transformer_viz.heads.store import GRAMMAR, Measured

_OFFSET = re.compile(r"positional\(([+-]?\d+)\)")
GOLD = "gold:"
NO_ROLE = "No role is confirmed for this head."
COREFERENCE = "gold:coreference"


def column(id: str) -> Statistic:
    """Return a statistic of a report; one that is not known here is named as in the JSON."""
    name = id.replace("_", " ")
    return statistic(id) or Statistic(id, name, name, "", name, unit="unknown")


@dataclass(frozen=True, slots=True)
class RoleName:
    """The names of a role; ``short``: for a table, ``claim``: what the head does, without its
    subject."""

    short: str
    claim: str
    definition: str


_HEAVIEST = "Share of the queries whose largest weight, special tokens included, is on "
_GOLD_SHARE = (
    "Share of words whose largest weight is on the right word, by the grammar's gold annotation; "
    "a row that rests on a special token or another sink is a miss. The role requires that the "
    "lower end of the 95% interval is 10 percentage points above a fixed-distance baseline "
    f"(Voita et al. 2019), a mean weight of {LEAST_WEIGHT} on the right word, and {FEWEST_CASES} "
    "cases."
)
_SINKS = {
    "end": "the end of the sentence",
    "first": "the first token",
    "final mark": "the final punctuation mark",
}
_PLACES = {-1: "the token before", 0: "the token itself", 1: "the token after"}
_SORTS = {
    "positional": RoleName(
        "position", "", _HEAVIEST + "the token at one fixed offset (Voita et al. 2019)."
    ),
    "sink": RoleName(
        "sink", "", "Mean weight on one token, whatever the query (Xiao et al. 2023)."
    ),
    "broad": RoleName(
        "broad",
        "spreads its attention widely",
        "1 − the largest weight of a row, over the rows of 20 keys or more (Clark et al. 2019).",
    ),
    "diagonal": RoleName(
        "diagonal",
        "follows the order of the source, word by word",
        "Mean weight on the key at round(i·n/m).",
    ),
    "rare-word": RoleName(
        "rare word",
        "looks at the rarest word of the sentence",
        _HEAVIEST + "the rarest word of the sentence (Voita et al. 2019).",
    ),
}
_GOLD = {
    "alignment": ("aligns words", "the translation", "the word it translates"),
    "coreference": ("“it”", "the pronoun", "its antecedent"),
    "possessive": ("possessive", "the possessive", "the owner"),
    "relative": ("relative", "the relative pronoun", "its noun"),
    "subject": ("subject", "the verb", "its subject"),
    "attracted_subject": ("far subject", "the verb", "its subject beyond another noun"),
    "object": ("object", "the object", "its verb"),
    "indirect_object": ("indirect object", "the indirect object", "its verb"),
    "attribute": ("attribute", "the adjective", "its noun"),
    "predicate": ("predicate", "the adjective", "what it describes"),
    "auxiliary": ("auxiliary", "the verb", "its auxiliary"),
    "perfect": ("perfect", "the participle", "its “have”"),
    "future": ("future", "the infinitive", "“will”"),
    "modal": ("modal", "the infinitive", "its modal verb"),
    "passive": ("passive", "the participle", "its “be”"),
    "particle": ("particle", "the particle", "its verb"),
    "subordinate": ("subordinate", "the verb", "its conjunction"),
    "fronted": ("fronted", "the verb", "what stands before it"),
    "question": ("question", "the question word", "its verb"),
    "two_way": ("two-way", "the preposition", "its verb"),
    "comparative": ("comparative", "“than”", "its comparative"),
    "causative": ("causative", "“make”", "its comparative"),
    "coordination": ("coordination", "the conjunct", "the first conjunct"),
    "negation": ("negation", "the negation", "its verb"),
}
"""Short name, the word that needs another one, and that one."""


def sort_name(sort: str) -> RoleName:
    """How a sort of role is named; one not known here has the name that the JSON gives it."""
    if sort.startswith(GOLD):
        relation = sort.removeprefix(GOLD)
        plain = relation.replace("_", " ")
        short = _GOLD.get(relation, (plain, "", ""))[0]
        return RoleName(short, "", _GOLD_SHARE)
    return _SORTS.get(sort) or RoleName(sort, sort, "")


_ALONE = {
    "coreference": "the antecedent",
    "predicate": "what is described",
    "fronted": "what stands before the verb",
}
"""The word that is needed, named without the other one; of other relations "its" becomes "the"."""

_BY = {"fed": " by the word each row reads", "predicted": " by the word each row predicts"}


def role_name(role: Role) -> RoleName:
    """How the role of one head is named: with its offset, its token, or its direction."""
    general = sort_name(role.sort)
    offset = _OFFSET.fullmatch(role.name)
    if offset is not None:
        place = _signed(int(offset[1]))
        where = _PLACES.get(int(offset[1]), f"the token at {place}")
        return replace(general, short=f"position {place}", claim=f"looks at {where}")
    if role.sort == "sink":
        where = _SINKS.get(role.on, role.on)
        return replace(general, claim=f"mostly attends to {where}, whatever the query")
    if role.sort.startswith(GOLD):
        return replace(general, claim=_link(role))
    return general


def judgement(role: Role) -> str:
    """Score, interval, weight, baseline and threshold in words."""
    gold = role.links is not None
    number = percent if gold else "{:.2f}".format
    text = f"{evidence(role)}; baseline {number(role.baseline)}"
    if not gold:
        text += " (uniform attention)"
    elif role.offset is not None:
        text += f" (fixed distance: {_away(role.offset)})"
    return f"{text}{_verdict(role, number(role.threshold))}"


def evidence(role: Role) -> str:
    """The score over how many cases, from where its interval begins, and the mean weight, as in
    "Right in 83% of 432 links (95% interval from 79%), mean weight 0.78"."""
    gold = role.links is not None
    number = percent if gold else "{:.2f}".format
    text = f"Right in {number(role.score)}" if gold else f"Score {number(role.score)}"
    if role.cases is not None:
        text += f" {'of' if gold else 'over'} {counted(role.cases, _unit(role))}"
    text += _BY.get(role.reading, "")
    if role.outdated:
        return f"{text}, weight not measured"
    text += f" (95% interval from {number(role.lower or 0.0)})"
    return text if role.weight is None else f"{text}, mean weight {role.weight:.2f}"


def score_over(role: Role) -> str:
    """As in "0.83 over 432 links"."""
    cases = "" if role.cases is None else f" over {counted(role.cases, _unit(role))}"
    return f"{role.score:.2f}{cases}"


def _unit(role: Role) -> str:
    if role.links is not None:
        return "link"
    return "row" if role.cases == role.rows else "sentence"


def _verdict(role: Role, threshold: str) -> str:
    if role.cases is not None and role.cases < FEWEST_CASES:
        return ": too few to assign the role."
    if role.threshold > 1:
        return ": no head could be clearly better, so this proves nothing."
    if role.outdated:
        return ": measured by an older version; measure again."
    said = f", threshold {threshold}"
    if role.explained_by:
        general = sort_name(role.explained_by).short
        return f"{said}: passed, but explained by “{general}”, which this head also does."
    if not role.passed and role.lower is not None and role.lower >= role.threshold:
        return f"{said}: not passed, as the weight is below {LEAST_WEIGHT}."
    return f"{said}: {'passed' if role.passed else 'not passed'}."


def _link(role: Role) -> str:
    relation = role.sort.removeprefix(GOLD)
    if relation not in _GOLD:
        return f"follows the link “{relation.replace('_', ' ')}”"
    if relation == "alignment":
        return f"aligns words{_BY.get(role.reading, '')}"
    _short, needy, needed = _GOLD[relation]
    if role.direction == "backward":
        return f"looks from {_ALONE.get(relation, needed.replace('its ', 'the '))} to {needy}"
    return f"looks from {needy} to {needed}"


def _away(offset: int) -> str:
    if not offset:
        return "0 words"
    words = "word" if abs(offset) == 1 else "words"
    return f"{abs(offset)} {words} {'ahead' if offset > 0 else 'back'}"


def roles_in_words(measured: MeasuredHead) -> str:
    """The short names of the roles that it has, for a cell of a table."""
    return ", ".join(role_name(role).short for role in measured.passed)


def measured_on(measured: Measured) -> str:
    """Describe a sample, for example "1,000 generated sentences, 2026-11-30"."""
    corpus, number = measured.question.corpus, f"{measured.question.sentences:,}"
    many = f"{number} generated sentences"
    if corpus != GRAMMAR:
        many = f"up to {number} sentences of {corpus_name(corpus)}"
    return f"{many}, {measured.day or 'measured beforehand'}"


def corpus_name(corpus: str) -> str:
    """Return the name of a file or of "SOURCE,TARGET", without folders."""
    parts = [corpus] if is_file(corpus) else corpus.split(",")
    return ", ".join(Path(part).name for part in parts)


def alignment_in_words(alignment: Alignment) -> str:
    """The rates of the layers' mean maps and of the best head."""
    layers = " ".join("–" if one is None else f"{one:.2f}" for one in alignment.layers)
    best = f"{alignment.best.layer + 1}.{alignment.best.head + 1}"
    return (
        f"Layers’ mean maps {layers} · best head {best}: {alignment.error:.2f} · "
        f"along the diagonal {alignment.diagonal:.2f}"
    )


def listed(ids: Sequence[str]) -> list[str]:
    """Return statistics in the order of a table: importance and effect first, then those of the
    registry, then those that are not known here."""
    order = dict.fromkeys([IMPORTANCE.id, EFFECT.id, *(one.id for one in STATISTICS), *ids])
    return [id for id in order if id in ids]


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", "−") if offset else "0"
