"""What a head does on the text shown, on maps that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.trace.trace import AttentionKind, Head, StoredAttention, Trace
from tests.transformer_viz.heads.answers import answer
from tests.transformer_viz.stage import word_trace
from transformer_viz.heads.here import Here, here, link_of, weight_on
from transformer_viz.heads.report import Evidence, MeasuredHead, Report, Role, read_head
from transformer_viz.heads.sight import sight
from transformer_viz.state.bundled import Subject, samples, subject_of

E, D, C = AttentionKind
HEAD = Head(E, 0, 0)
TEXT = "The animal slept because it was tired ."
IT, ANIMAL, END = 4, 1, 8
SUBJECT = Subject("coreference", "source", "it", "animal")
BASE = read_head(answer()["heads"][0]).roles[0]


def role(name: str, **changes: object) -> Role:
    sort = name.partition("(")[0]
    usual = {"score": 0.8, "direction": "forward" if sort.startswith("gold:") else ""}
    usual |= {"best": (), "worst": (), "passed": True, "lower": 0.75, "cases": 432}
    return replace(BASE, name=name, sort=sort, **usual | changes)


IT_ROLE = role("gold:coreference")


def looking(row: int, key: int, weight: float = 0.9, kind: AttentionKind = E) -> Trace:
    """Uniform, but for one row of every head, which puts this weight on one key."""
    trace = word_trace(TEXT)
    stored = trace.attention[kind]
    assert isinstance(stored, StoredAttention)
    maps = stored.maps
    keys = maps.shape[-1]
    maps[..., row, :] = (1 - weight) / (keys - 1)
    maps[..., row, key] = weight
    return trace


def test_a_sample_says_what_would_be_right() -> None:
    assert here(IT_ROLE, HEAD, looking(IT, ANIMAL), SUBJECT) == Here("“it” → “animal” 0.90", True)
    wrong = here(IT_ROLE, HEAD, looking(IT, END), SUBJECT)
    assert wrong == Here("“it” → “</s>” 0.90, “animal” 0.01", False)


def test_back_from_the_antecedent_to_the_pronoun() -> None:
    back = role("gold:coreference", direction="backward")
    assert here(back, HEAD, looking(ANIMAL, IT), SUBJECT) == Here("“animal” → “it” 0.90", True)


def test_a_sentence_that_the_role_was_measured_on_says_it_too() -> None:
    shown = Evidence(TEXT, TEXT.upper(), IT, ANIMAL, 0.9)
    known = role("gold:predicate", best=(shown,))
    assert here(known, HEAD, looking(IT, END), None) == Here(
        "“it” → “</s>” 0.90, “animal” 0.01", False
    )
    other = role("gold:predicate", best=(replace(shown, source="Another text ."),))
    assert here(other, HEAD, looking(IT, END), None) is None


def test_without_either_only_a_head_that_rests_is_said_to_disagree() -> None:
    assert here(IT_ROLE, HEAD, looking(IT, ANIMAL), None) == Here("“it” → “animal” 0.90", None)
    assert here(IT_ROLE, HEAD, looking(IT, END), None) == Here("“it” → “</s>” 0.90", False)
    assert here(role("gold:object"), HEAD, looking(IT, ANIMAL), None) is None


def test_a_word_that_is_a_sink_is_not_looked_at() -> None:
    """ "The" receives most of every row."""
    trace = word_trace("The slept because it was tired .")
    stored = trace.attention[E]
    assert isinstance(stored, StoredAttention)
    stored.maps[:] = 0.05
    stored.maps[..., 0] = 0.65
    found = here(IT_ROLE, HEAD, trace, Subject("coreference", "source", "it", "The"))
    assert found == Here("“it” → “The” 0.65", False)


def test_roles_without_gold_are_measured_on_this_text_alone() -> None:
    trace = word_trace(TEXT)
    stored = trace.attention[E]
    assert isinstance(stored, StoredAttention)
    n = stored.maps.shape[-1]
    stored.maps[:] = np.eye(n, k=-1, dtype=np.float32)
    stored.maps[..., 0, 0] = 1
    before = role("positional(-1)", score=0.95)
    assert here(before, HEAD, trace, None) == Here("1.00", True)
    assert here(role("positional(+1)", score=0.95), HEAD, trace, None) == Here("0.00", False)
    sink = role("sink", on="end", score=0.5)
    assert here(sink, HEAD, trace, None) == Here("0.00", False)
    stored.maps[:] = 0
    stored.maps[..., n - 1] = 1
    assert here(sink, HEAD, trace, None) == Here("1.00", True)
    assert here(before, HEAD, trace, None) == Here("0.00", False)
    assert here(role("broad", score=0.95), HEAD, trace, None) is None  # no row has 20 keys
    assert here(role("rare-word"), HEAD, trace, None) is None


def test_an_aligner_says_how_many_rows_look_at_a_word() -> None:
    trace = word_trace(TEXT)
    stored = trace.attention[C]
    assert isinstance(stored, StoredAttention)
    stored.maps[:] = np.eye(*stored.maps.shape[-2:], dtype=np.float32)
    found = here(role("gold:alignment", reading="predicted"), Head(C, 0, 0), trace, None)
    assert found == Here("7 of 9 rows look at a word", True)  # not at "." and "</s>"
    stored.maps[:] = 0
    stored.maps[..., -1] = 1
    found = here(role("gold:alignment", reading="predicted"), Head(C, 0, 0), trace, None)
    assert found == Here("0 of 9 rows look at a word", False)


def test_a_decoder_row_is_the_one_that_predicts_the_word_or_is_fed_it() -> None:
    trace = word_trace(TEXT)
    subject = Subject("predicate", "target", "TIRED", "ANIMAL")
    predicted = role("gold:predicate", reading="predicted")
    fed = role("gold:predicate", reading="fed")
    first, second = (link_of(one, D, trace, subject) for one in (predicted, fed))
    assert first is not None
    assert second is not None
    assert trace.predicted_tokens[first.rows[0]].label == "TIRED"
    assert trace.target_tokens[second.rows[0]].label == "TIRED"
    assert trace.target_tokens[first.keys[0]].label == "ANIMAL"
    later = Subject("predicate", "target", "ANIMAL", "TIRED")
    assert link_of(predicted, D, trace, later) is None  # a row sees nothing later
    assert link_of(predicted, E, trace, subject) is None


# --- which head shows it ---------------------------------------------------------------------


def report(*having: tuple[Head, float]) -> Report:
    heads = {
        head: MeasuredHead(head, {}, (one,), (one,))
        for head, score in having
        for one in [role("gold:coreference", score=score, lower=score - 0.05)]
    }
    return Report(heads)


def test_of_the_heads_that_show_it_the_one_with_the_best_score() -> None:
    trace = looking(IT, ANIMAL)
    found = sight(trace, SUBJECT, report((Head(E, 0, 1), 0.6), (Head(E, 1, 2), 0.9)))
    assert found is not None
    assert found.selection.primary == Head(E, 1, 2)
    assert (found.selection.query, found.selection.key) == (IT, ANIMAL)
    assert found.text == (
        "Encoder self-attention · layer 2 · head 3: the row of “it” puts 0.90 of its weight on "
        "“animal”; over the corpus it finds 90% of 432 links."
    )


def test_a_head_with_the_role_that_does_not_show_it_is_not_praised() -> None:
    found = sight(looking(IT, END), SUBJECT, report((Head(E, 0, 1), 0.6)))
    assert found is not None
    assert found.text.startswith("No head with this role shows it here. Encoder")


def test_without_a_head_that_has_the_role_it_says_so() -> None:
    found = sight(looking(IT, ANIMAL), SUBJECT, report())
    assert found is not None
    assert "the most of all heads. Over the corpus, the role “it” is not confirmed" in (
        found.text.replace("““it””", "“it”")
    )
    unmeasured = sight(looking(IT, ANIMAL), SUBJECT, None)
    assert unmeasured is not None
    assert "Measure the heads" in unmeasured.text
    nothing = sight(word_trace(TEXT), SUBJECT, None)
    assert nothing is not None
    assert nothing.text.startswith("No head of this model shows it here.")


def test_a_text_without_the_words_shows_nothing() -> None:
    assert sight(word_trace("A dog ran ."), SUBJECT, None) is None


def test_every_subject_is_of_a_sample_and_made_of_its_words() -> None:
    for group in samples():
        assert set(group.subjects) <= set(group.sentences)
        for text, subject in group.subjects.items():
            assert subject_of(text) is subject
            assert subject.hint or subject.relation
            if subject.side == "source" and subject.relation:
                words = text.replace(".", " .").split()
                assert {subject.start, subject.end} <= set(words)


def test_the_weight_is_a_mean_over_rows_of_a_sum_over_columns() -> None:
    link = link_of(IT_ROLE, E, looking(IT, ANIMAL, 0.6), SUBJECT)
    assert link is not None
    assert weight_on(HEAD, looking(IT, ANIMAL, 0.6), link) == pytest.approx(0.6)
