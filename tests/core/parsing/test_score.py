"""Brackets are counted as EVALB counts them; the figures are those of the C program."""

from __future__ import annotations

import pytest

from core.errors import UserError
from core.parsing.linear import rebuilt
from core.parsing.score import Score, Status, score_text, score_tree, total, with_tags
from core.parsing.trees import read_tree

DOG = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))"
UP = "(S (NP (PRP he)) (VP (VBD gave) ({} (RP up))))"
SAW = "(S (NP (PRP I)) (VP (VBD saw) {}))"
MAN = "(NP (DT the) (NN man))"
WITH = "(PP (IN with) (NP (DT a) (NN dog)))"

COMPARED = [
    (DOG, "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (. .)))", (3, 3, 3)),
    (UP.format("PRT"), UP.format("ADVP"), (4, 4, 4)),
    (
        "(S (NP-SBJ-1 (PRP he)) (VP (VBD came) (NP-TMP=2 (NN today))))",
        "(S (NP (PRP he)) (VP (VBD came) (NP (NN today))))",
        (4, 4, 4),
    ),
    ("(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NP (NN a))) (VP (VB b)))", (4, 4, 4)),
    ("(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", (3, 4, 3)),
    ("(S (VP (NP (NN a))))", "(S (NP (VP (NN a))))", (3, 3, 3)),
    ("(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))", (2, 2, 2)),
    (f"( {DOG})", f"(TOP {DOG})", (3, 4, 3)),
    (f"(TOP {DOG})", f"(ROOT {DOG})", (3, 3, 4)),
    (SAW.format(f"(NP {MAN} {WITH})"), SAW.format(f"{MAN} {WITH}"), (6, 7, 6)),
    (
        "(S (NP (DT the) (NN dog)) (VP (VBZ eats) (NP (NN meat))))",
        "(S (DT the) (NN dog) (VBZ eats) (NN meat))",
        (1, 4, 1),
    ),
    (
        "(S (NP (NN a)) (PRN (-LRB- -LRB-) (NP (NN b)) (-RRB- -RRB-)) (VP (VB c)))",
        "(S (NP (NN a)) (PRN (-LRB- -LRB-) (NP (NN b))) (-RRB- -RRB-) (VP (VB c)))",
        (4, 5, 5),
    ),
]


@pytest.mark.parametrize(("gold", "test", "counts"), COMPARED)
def test_compared(gold: str, test: str, counts: tuple[int, int, int]) -> None:
    found = score_text(gold, test)
    assert (found.matched, found.gold, found.test) == counts
    assert (found.status, found.failed, found.sentences) == (Status.COMPARED, 0, 1)
    assert found.exact == (len(set(counts)) == 1)


@pytest.mark.parametrize(
    ("gold", "test", "status"),
    [
        (DOG, DOG.replace("(. .)", "(NN .)"), Status.ERROR),
        (DOG, "(S (NP (XX the) (XX dog)) (VP (XX barks)) (XX .))", Status.ERROR),
        ("(NP (NN dogs) (POS '))", "(NP (NN dogs) ('' '))", Status.ERROR),
        (DOG, "(S (NP (NN dog)) (VP (VBZ barks)) (. .))", Status.ERROR),
        (DOG, DOG.replace("the", "The"), Status.ERROR),
        (DOG, DOG + ")", Status.ERROR),
        (DOG, DOG[:-1], Status.ERROR),
        (DOG, "(S (. .))", Status.SKIPPED),
        (DOG, "()", Status.SKIPPED),
    ],
)
def test_failures_keep_their_gold_brackets(gold: str, test: str, status: Status) -> None:
    found = score_text(gold, test)
    assert (found.status, found.failed, found.matched) == (status, 1, 0)
    assert found.gold == (1 if gold.startswith("(NP") else 3)
    assert found.f1 == 0


def test_punctuation_alone_is_skipped_without_blame() -> None:
    found = score_text("(S (. .))", "(NP (. .))")
    assert (found.status, found.failed, found.gold, found.test) == (Status.SKIPPED, 0, 0, 0)


def test_rates_are_of_all_brackets_together_and_failures_lower_them() -> None:
    right, wrong = score_text(DOG, DOG), score_text(DOG, DOG[:-1])
    attached = score_text(COMPARED[9][0], COMPARED[9][1])
    assert attached.f1 == pytest.approx(92.3077, abs=1e-4)
    assert score_text(COMPARED[10][0], COMPARED[10][1]).f1 == pytest.approx(40.0)
    together = total([right, attached, wrong])
    assert (together.matched, together.gold, together.test) == (9, 13, 9)
    assert together.precision == 100.0
    assert together.recall == pytest.approx(100 * 9 / 13)
    assert together.f1 == pytest.approx(200 * 9 / 22)
    assert together.to_dict()["failed"] == 1
    assert together.to_dict()["exact"] == pytest.approx(100 / 3)
    assert Score().to_dict()["f1"] == 0.0


def test_gold_tags_make_a_parse_with_wrong_tags_comparable() -> None:
    gold = read_tree(DOG)
    tokens = ["S", "NP", "XX", "XX", "/NP", "VP", "XX", "/VP", "XX", "/S"]
    found, _ = rebuilt(tokens, gold.words(), ["S", "NP", "VP"])
    assert score_tree(gold, found).status is Status.ERROR
    assert score_tree(gold, with_tags(found, gold)) == score_tree(gold, gold)


def test_a_gold_line_that_is_no_tree_is_refused() -> None:
    with pytest.raises(UserError):
        score_text("(S", DOG)
