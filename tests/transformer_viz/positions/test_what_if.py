from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.checkpoints.native import save_checkpoint
from core.config import ModelConfig
from core.errors import UserError
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.trace.positions import rotation, shift
from tests.transformer_viz.models import LINES, save_tiny_model
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.engine.backend import FEWEST_POSITIONS, TorchBackend
from transformer_viz.engine.worker import Context
from transformer_viz.positions.position_shift import shift_statement
from transformer_viz.positions.positions import facts
from transformer_viz.positions.what_if import WhatIf, Wish
from transformer_viz.state.session import Search

CONTEXT = Context(stale=lambda: False, report=lambda text: None)


@pytest.fixture
def stage(qtbot: QtBot) -> Iterator[Stage]:
    """A stage that shows the translation of "a b c", and looks at the what-if."""
    made = Stage()
    made.controller.what_if.watch(True)
    made.controller.translate("a b c")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b c"))
    yield made
    made.backend.gate.set()
    made.controller.close()


@pytest.fixture
def desk(stage: Stage) -> WhatIf:
    return stage.controller.what_if


def test_the_table_comes_with_the_model(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: desk.table is not None)
    first = desk.table
    with qtbot.waitSignal(desk.tableChanged):
        stage.controller.open(OTHER)
    qtbot.waitUntil(lambda: desk.table is not None and desk.table is not first)


def test_nothing_is_asked_until_something_is_wished(stage: Stage, desk: WhatIf) -> None:
    assert desk.wish.nothing
    assert desk.variant is None
    assert not desk.asking
    assert stage.backend.asked == []


def test_a_wish_brings_its_variant(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    desk.change(seed=4)
    assert desk.asking
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert not desk.asking
    assert stage.backend.asked == [("a b c", Search(), True, 4)]
    assert desk.variant is not None
    assert desk.variant.trace.text == "c b a"
    desk.change(positions=False)
    assert desk.variant is None
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert stage.backend.asked[-1] == ("a b c", Search(), False, 4)
    desk.change(positions=True, seed=None)
    assert desk.variant is None
    assert desk.wish == Wish()
    assert len(stage.backend.asked) == 2


def test_words_change_places_from_the_order_shown(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    desk.swap(0, 2)
    assert desk.wish.words == desk.order_shown == (2, 1, 0)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert stage.backend.asked[-1] == ("a b c", Search(), True, (2, 1, 0))
    desk.swap(0, 1)
    assert desk.order_shown == (1, 2, 0)
    desk.arrange(desk.order_shown[::-1])
    assert desk.order_shown == (0, 2, 1)
    desk.swap(1, 2)
    assert desk.wish.nothing, "the words are where they were"
    desk.change(seed=1)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert desk.order_shown == (2, 1, 0), "as they were shuffled"
    desk.swap(1, 2)
    assert (desk.wish.seed, desk.wish.words) == (None, (2, 0, 1))
    stage.controller.translate("x y z a")
    qtbot.waitUntil(stage.shows("x y z a"))
    assert desk.wish.nothing, "an order is of one sentence"
    assert desk.order_shown == (0, 1, 2, 3)


def test_the_newest_wish_wins(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    shown: list[object] = []
    desk.changed.connect(lambda: shown.append(desk.variant) if desk.variant else None)
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    desk.change(positions=False)
    qtbot.waitUntil(stage.backend.busy.is_set)
    for seed in range(1, 30):
        desk.change(seed=seed)
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert len(shown) == 1
    assert [seed for *_, seed in stage.backend.asked] == [None, 29]


def test_the_variant_follows_the_sentence(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    desk.change(seed=1)
    qtbot.waitUntil(lambda: desk.variant is not None)
    stage.controller.translate("a b c d")
    qtbot.waitUntil(stage.shows("a b c d"))
    assert desk.variant is None, "a variant of another sentence is not shown"
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert desk.variant is not None
    assert desk.variant.reference.text == "a b c d"


def test_a_variant_on_its_way_is_dropped_when_the_text_changes(
    stage: Stage, desk: WhatIf, qtbot: QtBot
) -> None:
    texts: list[str] = []
    desk.changed.connect(
        lambda: texts.append(desk.variant.reference.text) if desk.variant else None
    )
    stage.backend.gate.clear()
    stage.backend.busy.clear()
    desk.change(seed=1)
    qtbot.waitUntil(stage.backend.busy.is_set)
    stage.controller.translate("x y")
    assert not desk.asking
    stage.backend.gate.set()
    qtbot.waitUntil(lambda: texts != [])
    assert texts == ["x y"]


def test_another_model_drops_the_variant(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    desk.change(positions=False)
    qtbot.waitUntil(lambda: desk.variant is not None)
    first = desk.variant
    stage.controller.open(OTHER)
    qtbot.waitUntil(lambda: desk.variant is None)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert desk.variant is not first


def test_a_failure_is_a_sentence_and_passes(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    stage.controller.translate("alone")
    qtbot.waitUntil(stage.shows("alone"))
    desk.change(seed=1)
    qtbot.waitUntil(lambda: desk.problem != "")
    assert desk.problem == "There is nothing to shuffle."
    assert desk.variant is None
    assert not desk.asking
    stage.controller.translate("not alone")
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert desk.problem == ""


def test_unwatched_it_rests_and_catches_up(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    desk.watch(False)
    desk.change(positions=False)
    assert not desk.asking
    desk.watch(True)
    qtbot.waitUntil(lambda: desk.variant is not None)
    assert len(stage.backend.asked) == 1
    desk.watch(True)
    assert not desk.asking, "what is there is not asked for again"


def test_an_empty_field_leaves_nothing(stage: Stage, desk: WhatIf, qtbot: QtBot) -> None:
    desk.change(positions=False)
    qtbot.waitUntil(lambda: desk.variant is not None)
    stage.controller.translate("")
    assert desk.variant is None
    assert not desk.asking


def test_the_real_backend_gives_the_models_own_table(tmp_path: Path) -> None:
    backend = TorchBackend(threads=1)
    backend.load(save_tiny_model(tmp_path / "tiny.safetensors"), CONTEXT)
    table = backend.positions(CONTEXT)
    assert table.values.shape == (FEWEST_POSITIONS, 16)
    assert (table.kind, table.layout, table.trained) == ("sinusoidal", "interleaved", None)
    assert table.values[1, :2] == pytest.approx([np.sin(1), np.cos(1)])
    variant = backend.what_if("The animal was tired", Search(), False, 1, CONTEXT)
    assert variant.difference < 1e-5


def test_the_real_backend_shows_all_of_a_learned_table(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(LINES, 120)
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_heads=1,
        decoder_heads=1,
        encoder_d_ff=16,
        decoder_d_ff=16,
        positions="learned",
        max_positions=50,
    )
    model = Transformer(config)
    initialise(model, seed=1)
    path = tmp_path / "learned.safetensors"
    save_checkpoint(path, model, tokenizer, {"training": {"max_length": 30}})
    backend = TorchBackend(threads=1)
    backend.load(path, CONTEXT)
    table = backend.positions(CONTEXT)
    assert (table.kind, table.trained) == ("learned", 30)
    weight = model.state_dict()["positions.weight"].numpy()
    assert np.array_equal(table.values, weight)


@pytest.mark.parametrize("positions", ["rotary", "none"])
def test_rotary_positions_are_shown_as_turned_and_none_in_a_sentence(
    tmp_path: Path, positions: str
) -> None:
    tokenizer = train_tokenizer(LINES, 120)
    config = ModelConfig(
        **{"vocab_size": tokenizer.vocab_size, "d_model": 16, "positions": positions},
        **dict.fromkeys(("encoder_layers", "decoder_layers"), 1),
        **dict.fromkeys(("encoder_heads", "decoder_heads"), 2),
        **dict.fromkeys(("encoder_d_ff", "decoder_d_ff"), 16),
    )
    model = Transformer(config)
    initialise(model, seed=1)
    path = tmp_path / f"{positions}.safetensors"
    save_checkpoint(path, model, tokenizer, {})
    backend = TorchBackend(threads=1)
    backend.load(path, CONTEXT)
    if positions == "none":
        with pytest.raises(UserError, match="no positions: it cannot tell one order"):
            backend.positions(CONTEXT)
        return
    table = backend.positions(CONTEXT)
    position, pair = np.arange(len(table.values))[:, None], np.arange(4)
    angles = position / 10000 ** (2 * pair / 8)
    np.testing.assert_allclose(table.values[:, 0::2], np.cos(angles), atol=1e-6)
    np.testing.assert_allclose(table.values[:, 1::2], np.sin(angles), atol=1e-6)
    turned = shift(table.points, 5, table.frequencies)
    assert turned.error < 1e-5
    matrix = rotation(turned.angles, table.pairs)  # of RoFormer, equation 15
    cos, sin = np.cos(5.0), np.sin(5.0)
    np.testing.assert_allclose(matrix[:2, :2], [[cos, -sin], [sin, cos]], atol=1e-12)
    assert "nothing is added" in facts(table)
    assert "the distance alone" in shift_statement(table, turned)
