"""Planted heads get the roles that they were planted for, and no other one."""

from __future__ import annotations

import pytest

from core.analysis.forced import forced_pairs
from core.analysis.heads import MeasuredHead, measure_heads
from core.analysis.pruning import prune
from core.analysis.sample import Sample
from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.sentence import Sentence
from core.heads import AttentionKind, Head
from core.model.transformer import Transformer
from core.trace.record import trace_text
from tests.core.analysis.planted import (
    WORDS,
    Broad,
    Finds,
    Habit,
    Offset,
    On,
    Rarest,
    heads,
    planted,
)

CHECKPOINT = planted()
MIDDLE = "saw the wide street because it was not tired, and the small cat heard a child in the"
ENDINGS = ("zebra", "river", "window", "table", "tree")


def sentence(number: int) -> Sentence:
    """ "it" means the dog, each time at another distance; the last word is the rarest."""
    text = f"the old dog {'of the garden ' * number}{MIDDLE} {ENDINGS[number]}."
    words = tuple(text.replace(",", " ,").replace(".", " .").split())
    it, dog = words.index("it"), words.index("dog")
    return Sentence(
        source=text,
        target=text,
        family="planted",
        split="test",
        source_words=words,
        target_words=words,
        source_tags=tuple("noun" if word == "dog" else "other" for word in words),
        alignment=tuple((index, index) for index in range(len(words))),
        dependencies=tuple(Dependency(DependencyKind.COREFERENCE, side, it, dog) for side in Side),
        tree="",
    )


def sentences() -> list[Sentence]:
    return [sentence(number) for number in range(len(ENDINGS))] * 10


@pytest.fixture(scope="module")
def measured() -> dict[Head, MeasuredHead]:
    return {one.head: one for one in measure(CHECKPOINT.model)}


def measure(model: Transformer) -> list[MeasuredHead]:
    gold = sentences()
    sample = Sample(
        name="planted",
        sources=tuple(one.source for one in gold),
        references=tuple((one.target,) for one in gold),
        gold=tuple(gold),
    )
    forced = forced_pairs(model, CHECKPOINT.tokenizer, sample)
    counts = [1_000] * CHECKPOINT.tokenizer.vocab_size
    for rank, word in enumerate(WORDS[:-3]):
        counts[CHECKPOINT.tokenizer.encode(word)[-1]] = 900 - rank
    return measure_heads(
        model,
        CHECKPOINT.tokenizer,
        forced.pairs,
        counts=counts,
        gold=forced.gold,
        frequent_tokens=CHECKPOINT.tokenizer.vocab_size - 10,
    )


def expected(head: Head, habit: Habit) -> set[str]:
    match habit:
        case Offset(k):
            if head.kind is AttentionKind.CROSS:
                return set() if k else {"diagonal"}  # each word at its own place: no room to align
            return {f"positional({k:+d})" if k else "positional(0)"}
        case On():
            return {"sink"}
        case Finds():  # and looks everywhere from all other words
            return {"broad", "gold:coreference"}
        case Rarest():
            return {"rare-word"}
        case Broad():
            return {"broad"}


@pytest.mark.parametrize(("head", "habit"), [*heads()], ids=str)
def test_a_head_is_called_what_it_does(
    measured: dict[Head, MeasuredHead], head: Head, habit: Habit
) -> None:
    roles = {role.role: role for role in measured[head].roles}
    assert {name for name, role in roles.items() if role.passed} == expected(head, habit)
    for name in expected(head, habit) - {"broad"}:
        assert roles[name].score == pytest.approx(1, abs=0.05)
    for role in roles.values():
        assert role.lower <= role.score + 1e-12
        assert role.passed <= (role.lower >= role.threshold and role.cases >= 50)


def test_every_role_has_a_baseline_and_a_threshold_as_documented(
    measured: dict[Head, MeasuredHead],
) -> None:
    """Of heads that look everywhere alike the score is the baseline."""
    lengths = [len(CHECKPOINT.tokenizer.encode(one.source)) + 1 for one in sentences()]
    broad = Head(AttentionKind.ENCODER_SELF, 0, 3)
    roles = {role.role: role for role in measured[broad].roles}
    even = sum(1 / length for length in lengths) / len(lengths)
    assert roles["sink"].score == pytest.approx(roles["sink"].baseline) == pytest.approx(even)
    assert roles["sink"].threshold == pytest.approx(max(0.3, even + 0.3 - harmonic(64) / 64))
    rows = sum(lengths)
    assert roles["broad"].score == pytest.approx(1 - len(lengths) / rows)
    assert roles["broad"].score == pytest.approx(roles["broad"].baseline)
    diagonal = Head(AttentionKind.CROSS, 0, 2)
    (found,) = (role for role in measured[diagonal].roles if role.role == "diagonal")
    assert found.score == pytest.approx(found.baseline) == pytest.approx(even)
    first = Head(AttentionKind.DECODER_SELF, 0, 2)
    (found,) = (role for role in measured[first].roles if role.role == "sink")
    causal = sum(harmonic(length) / length for length in lengths) / len(lengths)
    assert found.score == pytest.approx(found.baseline) == pytest.approx(causal)
    assert not found.passed
    assert found.details == {"on": "first", "rows": sum(lengths)}


def harmonic(n: int) -> float:
    return sum(1 / k for k in range(1, n + 1))


def test_the_evidence_is_a_cell_of_the_trace(measured: dict[Head, MeasuredHead]) -> None:
    previous = measured[Head(AttentionKind.ENCODER_SELF, 0, 0)]
    (role,) = (role for role in previous.roles if role.passed)
    shown = [*role.best, *role.worst]
    assert len(shown) == len({one.source for one in shown}) == len(ENDINGS)
    for one in role.best:
        trace = trace_text(CHECKPOINT.model, CHECKPOINT.tokenizer, one.source, target=one.target)
        assert one.key == one.query - 1
        assert trace.weights(*previous.head)[one.query, one.key] == pytest.approx(1, abs=1e-3)
        assert one.score == 1.0
    finder = measured[Head(AttentionKind.CROSS, 0, 3)]
    (role,) = (role for role in finder.roles if role.role == "gold:coreference")
    for one in role.best:
        trace = trace_text(CHECKPOINT.model, CHECKPOINT.tokenizer, one.source, target=one.target)
        assert trace.source_tokens[one.key].label == "dog"
        assert trace.weights(*finder.head)[one.query, one.key] == pytest.approx(one.score, abs=1e-5)


def test_a_pruned_head_is_not_measured_and_the_others_keep_their_numbers(
    measured: dict[Head, MeasuredHead],
) -> None:
    """None but the copying one has an effect on what the others see."""
    gone = {head for head, _ in heads() if head.kind is AttentionKind.DECODER_SELF and head.layer}
    gone |= {Head(AttentionKind.ENCODER_SELF, 0, 0), Head(AttentionKind.CROSS, 0, 1)}
    left = {one.head: one for one in measure(prune(CHECKPOINT.model, gone))}
    assert left.keys() == measured.keys() - gone
    habits = dict(heads())
    for head, one in left.items():
        assert one.statistics["entropy"] == pytest.approx(
            measured[head].statistics["entropy"], abs=1e-4
        )
        roles = {role.role: role.score for role in one.roles}
        before = {role.role: role.score for role in measured[head].roles}
        for role in expected(head, habits[head]):  # rounding decides what an even row looks at
            assert roles[role] == pytest.approx(before[role], abs=1e-4)
