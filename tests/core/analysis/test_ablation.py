"""The planted model copies its source through one head of cross-attention alone."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from core.analysis.ablation import BASELINE_PASSES, Effect, Measured, baseline, measure
from core.analysis.importance import importance
from core.analysis.kept import MOST_FILES, Kept
from core.analysis.pruning import prune
from core.analysis.sample import Sample
from core.checkpoints.native import Checkpoint
from core.decoding.config import SearchConfig
from core.decoding.scoring import score_targets
from core.errors import UserError
from core.heads import AttentionKind, Head
from core.model.gates import Gates, gated
from tests.core.analysis.planted import COPYING, heads, planted

TEXTS = ("the dog crossed the street .", "it was a small house", "the tired child saw the zebra .")
SAMPLE = Sample(name="copies", sources=TEXTS, references=tuple((text,) for text in TEXTS))
SHORT = SearchConfig(max_extra=2)
OTHERS = [head for head, _ in heads() if head != COPYING]


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return planted()


def measured(checkpoint: Checkpoint, *off: Head) -> Measured:
    with gated(checkpoint.model, Gates.of(checkpoint.config, dict.fromkeys(off, 0.0))):
        return measure(checkpoint.model, checkpoint.tokenizer, SAMPLE, search=SHORT)


def test_without_the_head_that_copies_nothing_is_left(checkpoint: Checkpoint) -> None:
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    before, after = measured(checkpoint), measured(checkpoint, COPYING)
    assert Effect.between(before, after).changed == 100.0
    assert (before.quality.exact, after.quality.exact) == (100.0, 0.0)
    assert before.translations == TEXTS
    assert before.quality.bleu == pytest.approx(100.0)
    assert after.quality.chrf < 20 < before.quality.chrf
    assert before.quality.pronoun is after.quality.pronoun is None
    ids = [tokenizer.encode(text) for text in TEXTS]
    tokens = [float(value) for scored in score_targets(model, ids, ids) for value in scored]
    assert before.quality.loss == pytest.approx(-math.fsum(tokens) / len(tokens), rel=1e-6)
    # Then every token of the vocabulary is as good as any other.
    assert after.quality.loss == pytest.approx(math.log(model.config.vocab_size), rel=0.2)


def test_all_other_heads_may_go(checkpoint: Checkpoint) -> None:
    before, after = measured(checkpoint), measured(checkpoint, *OTHERS)
    assert Effect.between(before, after).changed == 0.0
    assert after.quality.exact == 100.0
    assert after.quality.loss == pytest.approx(before.quality.loss, abs=1e-5)


def test_the_important_head_is_the_one_that_copies(checkpoint: Checkpoint) -> None:
    done: list[int] = []
    work = checkpoint.model, checkpoint.tokenizer, SAMPLE
    found = baseline(*work, search=SHORT, progress=done.append)
    assert found.measured == measured(checkpoint)
    assert (done[0], done[-1]) == (3, BASELINE_PASSES * 3)
    assert max(found.importance, key=lambda code: found.importance[code]) == COPYING.code
    others = {head.code: pytest.approx(0.0, abs=1e-9) for head in OTHERS}
    assert found.importance == others | {COPYING.code: found.importance[COPYING.code]}
    ids = [checkpoint.tokenizer.encode(text) for text in TEXTS]
    weighed = importance(checkpoint.model, list(zip(ids, ids, strict=True)))
    expected = weighed[AttentionKind.CROSS][COPYING.layer, COPYING.head]
    assert found.importance[COPYING.code] == pytest.approx(expected)


def test_a_pruned_head_has_no_importance(checkpoint: Checkpoint) -> None:
    pruned = prune(checkpoint.model, [OTHERS[0]])
    found = baseline(pruned, checkpoint.tokenizer, SAMPLE, search=SHORT)
    assert OTHERS[0].code not in found.importance
    assert COPYING.code in found.importance


def test_a_layer_may_have_lost_all_its_heads(tmp_path: Path, checkpoint: Checkpoint) -> None:
    first = [Head(AttentionKind.DECODER_SELF, 0, head) for head in range(4)]
    pruned = prune(checkpoint.model, first)
    found = baseline(pruned, checkpoint.tokenizer, SAMPLE, search=SHORT)
    assert found.measured.translations == TEXTS
    keeping = Kept(tmp_path, pruned, checkpoint.tokenizer, SAMPLE, SHORT, 0)
    keeping.write(found)
    assert keeping.read() == found
    assert kept(tmp_path, checkpoint).read() is None


# Kept from one run to the next


def kept(folder: Path, checkpoint: Checkpoint, sample: Sample = SAMPLE, seed: int = 0) -> Kept:
    return Kept(folder, checkpoint.model, checkpoint.tokenizer, sample, SHORT, seed)


def test_what_is_kept_is_read_back(tmp_path: Path, checkpoint: Checkpoint) -> None:
    found = baseline(checkpoint.model, checkpoint.tokenizer, SAMPLE, search=SHORT)
    folder = tmp_path / "new" / "folder"
    assert kept(folder, checkpoint).read() is None
    kept(folder, checkpoint).write(found)
    assert kept(folder, checkpoint).read() == found


def test_of_anything_else_nothing_is_kept(tmp_path: Path, checkpoint: Checkpoint) -> None:
    found = baseline(checkpoint.model, checkpoint.tokenizer, SAMPLE, search=SHORT)
    kept(tmp_path, checkpoint).write(found)
    fewer = Sample(name="copies", sources=TEXTS[:2], references=SAMPLE.references[:2])
    changed = planted()
    changed.model.get_parameter("decoder.0.cross_attention.output.bias").data[0] += 1
    for another in (
        kept(tmp_path, checkpoint, fewer),
        kept(tmp_path, checkpoint, seed=1),
        kept(tmp_path, changed),
        Kept(tmp_path, checkpoint.model, checkpoint.tokenizer, SAMPLE, SearchConfig(), 0),
    ):
        assert another.read() is None


def test_a_damaged_file_is_measured_again(tmp_path: Path, checkpoint: Checkpoint) -> None:
    found = baseline(checkpoint.model, checkpoint.tokenizer, SAMPLE, search=SHORT)
    kept(tmp_path, checkpoint).write(found)
    (path,) = tmp_path.iterdir()
    for damaged in ("", "3", '{"measured": 3}', '{"measured": {"quality": "good"}}'):
        path.write_text(damaged, encoding="utf-8")
        assert kept(tmp_path, checkpoint).read() is None


def test_a_folder_does_not_grow_for_ever(tmp_path: Path, checkpoint: Checkpoint) -> None:
    found = baseline(checkpoint.model, checkpoint.tokenizer, SAMPLE, search=SHORT)
    (tmp_path / "of-others.json").write_text("{}", encoding="utf-8")
    for seed in range(MOST_FILES + 2):
        kept(tmp_path, checkpoint, seed=seed).write(found)
    assert (tmp_path / "of-others.json").is_file()
    assert len(list(tmp_path.iterdir())) == MOST_FILES + 1
    assert kept(tmp_path, checkpoint, seed=MOST_FILES + 1).read() == found


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path, checkpoint: Checkpoint) -> None:
    found = baseline(checkpoint.model, checkpoint.tokenizer, SAMPLE, search=SHORT)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"Could not write .*file: File exists"):
        kept(tmp_path / "file", checkpoint).write(found)
    assert kept(tmp_path / "file", checkpoint).read() is None
