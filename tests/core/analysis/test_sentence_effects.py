"""Every head off by itself, against switching it off and translating anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.analysis.sentence_effects import (
    Factors,
    SentenceEffect,
    Whole,
    each_head,
    pairs_of_layer,
    sentence_effects,
)
from core.bundled import model_path
from core.checkpoints.native import Checkpoint, load_checkpoint
from core.decoding.config import SearchConfig
from core.decoding.scoring import score_targets
from core.decoding.translate import translate
from core.errors import UserError
from core.heads import AttentionKind, Head, read_head
from core.model.gates import Gates, gated, gates_of
from tests.core.analysis.planted import COPYING, planted

TEXT = "The king loves his old dog."
WIDE = "The animal didn't cross the street because it was too wide."


@pytest.fixture(scope="module")
def plain() -> Checkpoint:
    return load_checkpoint(model_path("plain-en-de"))


def measured(
    checkpoint: Checkpoint, text: str, settings: list[Factors], search: SearchConfig
) -> tuple[Whole, list[SentenceEffect]]:
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    whole, *effects = sentence_effects(model, tokenizer, text, settings, search=search)
    assert isinstance(whole, Whole)
    return whole, [one for one in effects if isinstance(one, SentenceEffect)]


@pytest.mark.parametrize("beam", [1, 3])
def test_it_is_what_switching_off_and_translating_anew_gives(plain: Checkpoint, beam: int) -> None:
    search = SearchConfig(beam=beam)
    model, tokenizer = plain.model, plain.tokenizer
    names = ("encoder:1.1", "encoder:2.1", "decoder:2.2", "cross:3.3", "cross:3.2", "cross:1.4")
    settings: list[Factors] = [{read_head(name): 0.0} for name in names]
    settings += [{read_head("cross:3.3"): 0.5}, dict.fromkeys(map(read_head, names), 0.0)]
    whole, effects = measured(plain, WIDE, settings, search)
    (expected,) = translate(model, tokenizer, [WIDE], search)
    assert (whole.translation, whole.ids) == (expected.text, expected.ids)
    assert whole.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
    assert [effect.factors for effect in effects] == settings
    for effect in effects:
        with gated(model, Gates.of(model.config, effect.factors)):
            (now,) = translate(model, tokenizer, [WIDE], search)
            (kept,) = score_targets(model, [tokenizer.encode(WIDE)], [expected.ids])
        assert effect.translation == now.text
        assert effect.differs == (now.ids != expected.ids)
        assert effect.log_probability == pytest.approx(float(kept.sum()), abs=1e-4)
        assert effect.change == pytest.approx(effect.log_probability - whole.log_probability)
    assert any(effect.differs for effect in effects)
    assert not all(effect.differs for effect in effects)


def test_the_only_head_that_copies_is_the_only_one_that_matters() -> None:
    checkpoint = planted()
    text = "the dog crossed the street."
    whole, effects = measured(checkpoint, text, each_head(checkpoint.config), SearchConfig())
    assert whole.translation == text
    changed = [effect for effect in effects if effect.differs or abs(effect.change) > 0.01]
    assert [list(effect.factors) for effect in changed] == [[COPYING]]
    assert changed[0].change < -1


def test_the_model_is_as_it_was_between_two_results(plain: Checkpoint) -> None:
    steps = sentence_effects(plain.model, plain.tokenizer, TEXT, each_head(plain.config)[:3])
    for _ in steps:
        assert gates_of(plain.model) == {}


def test_pairs_are_every_two_heads_of_a_layer(plain: Checkpoint) -> None:
    pairs = pairs_of_layer(plain.config, AttentionKind.CROSS, 1)
    assert len(pairs) == 6  # 4 heads
    assert len({frozenset(pair) for pair in pairs}) == 6
    for pair in pairs:
        assert {(head.kind, head.layer) for head in pair} == {(AttentionKind.CROSS, 1)}
        assert set(pair.values()) == {0.0}
    config = replace(plain.config, pruned_heads=("cross.1.0", "cross.1.1", "cross.1.2"))
    assert pairs_of_layer(config, AttentionKind.CROSS, 1) == []


def test_a_head_that_the_model_lacks_is_refused_before_anything_is_computed(
    plain: Checkpoint,
) -> None:
    settings = [{Head(AttentionKind.CROSS, 9, 0): 0.0}]
    with pytest.raises(UserError, match=r"cross:10\.1"):
        next(sentence_effects(plain.model, plain.tokenizer, TEXT, settings))


def test_it_can_be_stopped(plain: Checkpoint) -> None:
    class StopError(Exception):
        pass

    def check() -> None:
        raise StopError

    steps = sentence_effects(
        plain.model, plain.tokenizer, TEXT, each_head(plain.config), check=check
    )
    with pytest.raises(StopError):
        next(steps)
