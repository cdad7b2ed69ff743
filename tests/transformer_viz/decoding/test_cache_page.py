"""The page Cache: bytes, comparisons and times, on a model that is only a shape."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.config import ModelConfig
from tests.transformer_viz.stage import GOOD, Stage, texts
from transformer_viz.decoding.cache_page import (
    NO_SHAPE,
    CachePage,
    cache_in_words,
    cache_rows,
    comparisons_in_words,
    in_bytes,
    times_plot,
)
from transformer_viz.decoding.step_clock import LENGTHS

BASE = ModelConfig(vocab_size=37_000)


def test_the_bytes_of_the_papers_base_model() -> None:
    """Per target token 6 layers · 8 heads · (64 + 64) numbers of 4 bytes: 24 KiB."""
    assert 6 * 8 * 128 * 4 == 24_576
    said = cache_in_words(BASE, 10)
    assert "adds 24,576 bytes to the cache: 12,288 of keys and 12,288 of values" in said
    assert "10 source tokens, for cross-attention, are kept once: 240 KiB" in said
    head, *layers, total = cache_rows(BASE, 10, 3, 7)
    assert head[1:] == ("step 3", "the end, 7", "1,000 tokens", "10,000 tokens")
    assert len(layers) == 6
    assert layers[0] == ("decoder layer 1", "52 KiB", "68 KiB", "3.9 MiB", "39.1 MiB")
    assert total == ("all layers", "312 KiB", "408 KiB", "23.7 MiB", "234.6 MiB")


def test_keys_and_values_of_different_widths_are_told_apart() -> None:
    config = replace(BASE, d_k=16, d_v=64)
    each = 6 * 8 * 4
    assert f"{each * 80:,} bytes" in cache_in_words(config, 1)
    assert f"{each * 16:,} of keys and {each * 64:,} of values" in cache_in_words(config, 1)


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 byte"), (960, "960 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (3 * 2**30, "3 GiB")],
)
def test_bytes_in_words(count: int, said: str) -> None:
    assert in_bytes(count) == said


def test_comparisons_in_words() -> None:
    said = comparisons_in_words(4, 6)
    assert "one query with 4 keys; in all steps so far, 10 (1 + 2 + … + 4), and 21 at" in said
    assert f"anew: {1 + 3 + 6 + 10} so far, {1 + 3 + 6 + 10 + 15 + 21} at the end" in said
    assert "1 key; in all steps so far, 1 (1)" in comparisons_in_words(1, 6)


def test_the_curves_are_in_milliseconds_and_marked_at_this_translation() -> None:
    plot = times_plot({1: (0.001, 0.002), 16: (0.001, 0.008)}, 9)
    assert [line.y.tolist() for line in plot.lines] == [[1, 1], [2, 8]]
    assert [mark.value for mark in plot.marks] == [9]
    assert times_plot({1: (0.001, 0.002), 16: (0.001, 0.008)}, 99).marks == ()


@pytest.fixture
def stage(qapp: object, qtbot: QtBot):
    made = Stage()
    made.controller.translate("a b c")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b c"))
    yield made
    made.controller.close()


def test_it_measures_while_it_is_shown_and_stops_when_it_is_left(
    stage: Stage, show, qtbot: QtBot
) -> None:
    clock, session = stage.controller.decoding.clock, stage.session
    session.set_model(replace(session.model, config=BASE))
    page = CachePage(session, clock)
    assert clock.times == {}, "nobody has looked"
    show(page, 800, 600)
    page.show_step(1, 4)
    qtbot.waitUntil(lambda: not clock.running)
    assert tuple(clock.times) == LENGTHS
    assert clock.times[64] == (0.001, 0.064)
    assert page.plot.isVisible()
    assert "decoder layer 6" in texts(page)
    stage.backend.gate.clear()
    session.set_model(replace(session.model, name="another"))
    assert clock.times == {}
    page.hide()
    assert not clock.running
    stage.backend.gate.set()


def test_a_model_of_unknown_shape_is_told_in_a_sentence(stage: Stage, show) -> None:
    stage.session.set_model(replace(stage.session.model, config=None))
    page = show(CachePage(stage.session, stage.controller.decoding.clock), 800, 600)
    page.show_step(0, 4)
    assert page.bytes.text() == NO_SHAPE
    assert not [one for one in page.findChildren(QLabel) if "decoder layer" in one.text()]
