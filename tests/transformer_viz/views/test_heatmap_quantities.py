"""The heatmap of what was moved, in place of the weights, and the shares below it."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from core.trace.trace import AttentionKind, Head, StoredAttention, Trace
from tests.transformer_viz.stage import FakeBackend, texts
from transformer_viz.drawing.colormap import ColorMap, lookup_table
from transformer_viz.options import Combine, Quantity, Scale
from transformer_viz.quantities import Answer, Quantities
from transformer_viz.session import Session
from transformer_viz.theme import LIGHT
from transformer_viz.views.heatmap import Heatmap
from transformer_viz.views.quantity_wording import EXPLANATIONS, NAMES
from transformer_viz.worker import Context

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
TABLE = lookup_table(ColorMap.PAPER, LIGHT)


class Answers:
    """An engine that answers at once, or, once `held`, when it is told to."""

    def __init__(self) -> None:
        self.held = False
        self.problem = ""
        self._waiting: list[Callable[[], None]] = []

    def ask(self, lane: str, question, *, done: Callable[[Answer], None], failed) -> None:
        context = Context(stale=lambda: False, report=lambda text: None)

        def answer() -> None:
            if self.problem:
                failed(self.problem)
            else:
                done(question(FakeBackend(), context))

        self._waiting = [answer]
        if not self.held:
            self.release()

    def cancel(self, lane: str) -> None:
        self._waiting.clear()

    def release(self) -> None:
        while self._waiting:
            self._waiting.pop()()


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def quantities(session: Session, answers: Answers) -> Quantities:
    return Quantities(session, answers.ask, answers.cancel, session)


@pytest.fixture
def heatmap(session: Session, quantities: Quantities, show) -> Heatmap:
    return show(Heatmap(session, quantities))


def notes(heatmap: Heatmap) -> str:
    return " ".join(texts(heatmap))


def choose(qtbot, heatmap: Heatmap, quantity: Quantity) -> None:
    """By keyboard."""
    box = heatmap.header.quantity
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Home)
    for _ in range(list(Quantity).index(quantity)):
        qtbot.keyClick(box, Qt.Key.Key_Down)


@pytest.mark.parametrize("quantity", Quantity)
def test_each_quantity_is_chosen_named_and_explained(
    qtbot, session: Session, heatmap: Heatmap, quantity: Quantity
) -> None:
    choose(qtbot, heatmap, quantity)
    assert session.options.quantity is quantity
    assert EXPLANATIONS[quantity] in notes(heatmap)
    assert heatmap.header.quantity.toolTip() == EXPLANATIONS[quantity]
    measure = heatmap._quantities.found.measure(E)
    assert heatmap.canvas.picture.legend.caption[0] == measure.name
    assert heatmap.header.quantity.currentText() == NAMES[quantity]
    assert "explanation" in EXPLANATIONS[Quantity.WEIGHT]


def test_norms_are_drawn_up_to_the_largest_of_all_heads(
    session: Session, trace: Trace, heatmap: Heatmap, pixel
) -> None:
    session.change_options(quantity=Quantity.NORM)
    norms = {
        (layer, head): (1 + layer + head) * trace.weights(E, layer, head)
        for layer in range(2)
        for head in range(3)
    }
    top = max(one.max() for one in norms.values())
    assert heatmap.canvas.picture.legend.ticks[0] == (1, f"{top:.3g}")
    assert heatmap.canvas.picture.legend.caption[1] == f"0–{top:.3g}, all heads"
    layer, head = max(norms, key=lambda each: norms[each].max())
    session.select(layer=layer, head=head)
    query, key = np.unravel_index(norms[layer, head].argmax(), norms[layer, head].shape)
    middle = heatmap.canvas.cell_rect(int(query), int(key)).center().toPoint()
    assert pixel(heatmap.canvas, middle) == TABLE[255].tolist()


def test_a_norm_is_read_beside_its_weight(session: Session, trace: Trace, heatmap: Heatmap) -> None:
    session.change_options(quantity=Quantity.NORM)
    session.select(layer=1, head=1)
    session.set_hover(4, 1)
    weight = trace.weights(E, 1, 1)[4, 1]
    shown = texts(heatmap.readout)
    assert {"norm ‖A·f(x)‖", f"{3 * weight:.4f}", "weight", f"{weight:.4f}"} <= set(shown)
    assert not any("score" in text for text in shown)
    heard = heatmap.canvas.accessibleDescription()
    assert heard.startswith("Encoder self-attention · layer 2 · head 2 · norm moved")
    assert heard.endswith(f"it (5) → animal (2): norm ‖A·f(x)‖ {3 * weight:.4f}")


def test_a_pin_has_the_value_that_is_shown(session: Session, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    session.change_options(quantity=Quantity.ALTI)
    share = heatmap._quantities.found.trace.weights(E, 0, 0)[4, 1]
    assert heatmap.tray.tags[0].choose.text() == f"it → animal  {share:.3f}"


def test_a_layers_map_is_that_of_the_current_heads_layer(
    session: Session, heatmap: Heatmap
) -> None:
    session.change_options(quantity=Quantity.ROLLOUT)
    session.select(kind=D, layer=1, head=0, others=((1, 1), (2, 0)))
    assert "Target prefix in the decoder · Rollout after layer 2" in texts(heatmap)
    assert heatmap.controls.combine.isEnabled()
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    assert len(heatmap.grid.grid.tiles) == 2, "one for each layer"
    assert "Target prefix in the decoder · Rollout after layers 2, 3" in texts(heatmap)
    session.select(kind=D, layer=1, head=0, others=((1, 1),))
    assert heatmap.canvas.isVisible(), "both heads have the same map"
    assert not heatmap.controls.combine.isEnabled()


def test_while_it_is_computed_the_old_picture_stays_and_cannot_be_pointed_at(
    session: Session, make_trace, answers: Answers, heatmap: Heatmap, qtbot
) -> None:
    session.change_options(quantity=Quantity.ALTI)
    before = heatmap.canvas.picture
    answers.held = True
    session.set_trace(make_trace("▁One </s>", "<s> ▁Eins"))
    assert heatmap.canvas.picture is before
    assert "Computing ALTI+ …" in texts(heatmap)
    assert "Source in the encoder · ALTI+ after layer 1" in texts(heatmap)
    point = heatmap.canvas.cell_rect(6, 6).center().toPoint()
    qtbot.mouseMove(heatmap.canvas, point)
    qtbot.mouseClick(heatmap.canvas, Qt.MouseButton.LeftButton, pos=point)
    assert session.hover == (None, None)
    assert session.selection.pinned == ()
    assert not heatmap.readout.isVisible()
    answers.release()
    assert heatmap.canvas.picture.shape == (2, 2)
    assert "Computing ALTI+ …" not in texts(heatmap)


def test_why_there_is_none_is_said_in_its_place(
    session: Session, answers: Answers, heatmap: Heatmap
) -> None:
    answers.problem = "What was moved is computed for up to 256 tokens."
    session.change_options(quantity=Quantity.NORM)
    assert not heatmap.canvas.isVisible()
    assert {"“Norm of the head” cannot be shown", answers.problem} <= set(texts(heatmap))
    session.change_options(quantity=Quantity.WEIGHT)
    assert heatmap.canvas.isVisible()
    assert heatmap.header.quantity.isVisible()


def test_a_decoder_that_cannot_be_followed_is_said_to_be(
    session: Session, make_trace, heatmap: Heatmap
) -> None:
    whole = make_trace()
    cross = whole.attention[C]
    maps = np.stack([whole.layer_weights(C, layer) for layer in range(cross.layers)])
    session.set_trace(
        Trace(
            source_tokens=whole.source_tokens,
            target_tokens=whole.target_tokens,
            attention={C: StoredAttention(maps)},
        )
    )
    session.select(kind=C)
    session.change_options(quantity=Quantity.ROLLOUT)
    assert not heatmap.canvas.isVisible()
    assert "This trace lacks a part of the way" in texts(heatmap)


def test_blank_and_hidden_are_shares_of_what_is_shown(session: Session, heatmap: Heatmap) -> None:
    session.select(kind=C)
    session.change_options(quantity=Quantity.ALTI, hide_specials=True, threshold=0.1)
    found = heatmap._quantities.found.trace.weights(C, 0, 0)[1:]
    hidden, shown = found[:, -1].sum(), found[:, :-1]
    assert f"{100 * hidden / found.sum():.0f}\u00a0% of the share." in notes(heatmap)
    blank = shown[shown < 0.1].sum() / found.sum()
    assert f"Below 0.1 left blank: {100 * blank:.0f}\u00a0% of the share." in notes(heatmap)


# The share of the source


def test_the_shares_stand_below_what_follows_tokens_and_nothing_else(
    session: Session, heatmap: Heatmap
) -> None:
    for quantity in Quantity:
        session.change_options(quantity=quantity)
        assert heatmap.share.isVisible() == quantity.of_input


def test_the_shares_are_the_rows_of_the_map_of_the_source(
    session: Session, heatmap: Heatmap
) -> None:
    session.change_options(quantity=Quantity.ALTI)
    found = heatmap._quantities.found.trace
    assert "decoder layer 3 of 3" in heatmap.share.accessibleDescription(), "beside the encoder"
    session.select(kind=C, layer=1)
    np.testing.assert_allclose(heatmap.share.shares, found.weights(C, 1, 0).sum(axis=1), atol=1e-6)
    prefix = found.weights(D, 1, 0).sum(axis=1)
    np.testing.assert_allclose(1 - heatmap.share.shares, prefix, atol=1e-6)
    assert "decoder layer 2 of 3" in heatmap.share.accessibleDescription()


def bar(heatmap: Heatmap, step: int) -> QPoint:
    return heatmap.share.bars.bar(step).center().toPoint()


def test_the_bar_is_filled_from_the_bottom(session: Session, heatmap: Heatmap, pixel) -> None:
    session.select(kind=C, layer=0)
    session.change_options(quantity=Quantity.ROLLOUT)
    assert heatmap.share.shares[4] == pytest.approx(0.5)
    rect = heatmap.share.bars.bar(4)
    middle = bar(heatmap, 4)
    for y, color in ((rect.bottom() - 4, "accent"), (rect.top() + 4, "chip")):
        found = pixel(heatmap.share, QPoint(middle.x(), round(y)))
        assert found == list(LIGHT.color(color).getRgb())


def test_pointing_at_a_step_lights_it_up_and_reads_it(
    qtbot, session: Session, heatmap: Heatmap
) -> None:
    session.select(kind=C, layer=0)
    session.change_options(quantity=Quantity.ROLLOUT)
    qtbot.mouseMove(heatmap.share, bar(heatmap, 2))
    assert session.hover == (2, None)
    assert (
        heatmap.share.accessibleDescription() == "“sch”: 50\u00a0% source, 50\u00a0% target prefix"
    )
    qtbot.mouseClick(heatmap.share, Qt.MouseButton.LeftButton, pos=bar(heatmap, 2))
    assert session.selection.pinned == ((2, None),)
    heatmap.share.setFocus()
    qtbot.keyClick(heatmap.share, Qt.Key.Key_Right)
    assert session.selection.pinned == ((3, None),)


def test_a_step_beside_the_encoder_leads_to_the_cross_attention(
    qtbot, session: Session, heatmap: Heatmap
) -> None:
    session.change_options(quantity=Quantity.ALTI)
    qtbot.mouseClick(heatmap.share, Qt.MouseButton.LeftButton, pos=bar(heatmap, 5))
    assert session.selection.primary == Head(C, 2, 0)
    assert session.selection.pinned == ((5, None),)


def test_the_shares_are_exported_with_the_map(session: Session, heatmap: Heatmap) -> None:
    session.change_options(quantity=Quantity.ALTI, scale=Scale.ROW)
    with_shares = heatmap.export_size().height()
    assert with_shares >= heatmap.canvas.height() + heatmap.share.height()
    assert heatmap.export_name().endswith("ALTI+")


def test_rollout_says_that_its_share_is_the_same_for_any_text(
    heatmap: Heatmap, session: Session
) -> None:
    session.change_options(quantity=Quantity.ROLLOUT)
    said = heatmap.share.accessibleDescription()
    assert said == "Rollout after decoder layer 3 of 3: 88\u00a0% at every step of any text"
    np.testing.assert_allclose(heatmap.share.shares, 1 - 2**-3, atol=1e-6)
    assert "ALTI+" in heatmap.share.toolTip()
    session.change_options(quantity=Quantity.ALTI)
    assert "any text" not in heatmap.share.accessibleDescription()
    assert not heatmap.share.toolTip()
