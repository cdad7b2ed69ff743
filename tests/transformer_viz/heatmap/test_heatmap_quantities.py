"""The heatmap of what was moved, in place of the weights, and the shares below it."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from core.text.tokens import Token
from core.trace.trace import AttentionKind, StoredAttention, Trace
from tests.transformer_viz.answers import Answers, quantities_of
from tests.transformer_viz.stage import texts
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.engine.quantities import Quantities
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.state.options import ColorMap, Combine, Quantity, Scale
from transformer_viz.state.session import Session
from transformer_viz.words.quantity_wording import EXPLANATIONS, NAMES

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
TABLE = lookup_table(ColorMap.PAPER, LIGHT)


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def quantities(session: Session, answers: Answers) -> Quantities:
    return quantities_of(session, answers)


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
    assert "Computing ALTI+…" in texts(heatmap)
    assert "Source in the encoder · ALTI+ after layer 1" in texts(heatmap)
    point = heatmap.canvas.cell_rect(6, 6).center().toPoint()
    qtbot.mouseMove(heatmap.canvas, point)
    qtbot.mouseClick(heatmap.canvas, Qt.MouseButton.LeftButton, pos=point)
    assert session.hover == (None, None)
    assert session.selection.pinned == ()
    assert not heatmap.readout.isVisible()
    answers.release()
    assert heatmap.canvas.picture.shape == (2, 2)
    assert "Computing ALTI+…" not in texts(heatmap)


def test_why_there_is_none_is_said_in_its_place(
    session: Session, answers: Answers, heatmap: Heatmap
) -> None:
    answers.problem = "Norms are computed for up to 256 tokens."
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
    assert "This trace is incomplete for this quantity" in texts(heatmap)


def test_blank_and_hidden_are_shares_of_what_is_shown(session: Session, heatmap: Heatmap) -> None:
    session.select(kind=C)
    session.change_options(quantity=Quantity.ALTI, hide_specials=True, threshold=0.1)
    found = heatmap._quantities.found.trace.weights(C, 0, 0)[1:]
    hidden, shown = found[:, -1].sum(), found[:, :-1]
    assert f"{100 * hidden / found.sum():.0f}% of the share." in notes(heatmap)
    blank = shown[shown < 0.1].sum() / found.sum()
    assert f"below 0.1 left blank: {100 * blank:.0f}% of the share." in notes(heatmap)


def test_a_map_that_is_nearly_blank_says_so_and_offers_another_scale(
    qtbot, session: Session, heatmap: Heatmap
) -> None:
    even = np.full((1, 1, 8, 8), 1 / 8, np.float32)
    tokens = tuple(Token(f"▁{number}") for number in range(8))
    session.set_trace(Trace(source_tokens=tokens, attention={E: StoredAttention(even)}))
    qtbot.waitUntil(lambda: "No weight is above 0.12" in notes(heatmap))
    assert "nearly blank on the absolute scale" in notes(heatmap)
    qtbot.mouseClick(heatmap.header.stretch, Qt.MouseButton.LeftButton)
    assert session.options.scale is Scale.HEAD
    qtbot.waitUntil(lambda: "nearly blank" not in notes(heatmap))
    assert not heatmap.header.stretch.isVisible()


def test_the_mean_of_several_heads_is_named_as_such(session: Session, heatmap: Heatmap) -> None:
    session.select(layer=0, head=0, others=((0, 1),))
    title = heatmap.header.title.text()
    assert "mean of 2 heads" in title
    assert heatmap.export_name() == title


# The share of the source


def test_the_shares_end_the_rows_of_what_follows_tokens_through_the_decoder(
    session: Session, heatmap: Heatmap
) -> None:
    for kind in (E, D, C):
        session.select(kind=kind)
        for quantity in Quantity:
            session.change_options(quantity=quantity)
            there = quantity.of_input and kind is not E
            assert (heatmap.canvas.picture.source is not None) == there


def test_the_shares_are_the_rows_of_the_map_of_the_source(
    session: Session, heatmap: Heatmap
) -> None:
    session.change_options(quantity=Quantity.ALTI)
    session.select(kind=C, layer=1)
    found = heatmap._quantities.found.trace
    source = heatmap.canvas.picture.source
    np.testing.assert_allclose(source, found.weights(C, 1, 0).sum(axis=1), atol=1e-6)
    assert f"From the source: {100 * source.mean():.0f}% of a row on average" in notes(heatmap)
    session.select(kind=D, layer=1)
    np.testing.assert_allclose(
        1 - heatmap.canvas.picture.source, found.weights(D, 1, 0).sum(axis=1), atol=1e-6
    )


def test_words_and_what_is_hidden_have_shares_too(session: Session, heatmap: Heatmap) -> None:
    session.select(kind=C, layer=0)
    session.change_options(quantity=Quantity.ALTI)
    each = heatmap.canvas.picture.source
    session.change_options(merge_words=True, hide_specials=True)
    words = heatmap.canvas.picture
    assert len(words.source) == len(words.rows) < len(each)
    axes = heatmap._axes
    for share, span in zip(words.source, axes.rows.spans, strict=True):
        assert share == pytest.approx(each[span.start : span.stop].mean(), abs=1e-6)


def test_the_share_of_a_row_is_read_beside_its_cells(
    session: Session, heatmap: Heatmap, qtbot
) -> None:
    session.select(kind=C, layer=1)
    session.change_options(quantity=Quantity.ALTI)
    share = f"{100 * heatmap.canvas.picture.source[4]:.0f}%"
    session.set_hover(4, 1)
    assert {"row from the source", share} <= set(texts(heatmap.readout))
    assert heatmap.canvas.accessibleDescription().endswith(f"{share} from the source")
    end = heatmap.canvas.cell_rect(4, heatmap.canvas.picture.shape[1] - 1)
    bar = QPoint(round(end.right()) + 20, round(end.center().y()))
    qtbot.mouseClick(heatmap.canvas, Qt.MouseButton.LeftButton, pos=bar)
    assert session.selection.pinned == ((4, None),)
    assert heatmap.tray.tags[0].choose.text().endswith(f"  {share} source")


def test_rollout_says_that_its_share_is_the_same_for_any_text(
    session: Session, heatmap: Heatmap
) -> None:
    session.change_options(quantity=Quantity.ROLLOUT)
    session.select(kind=C, layer=2)
    np.testing.assert_allclose(heatmap.canvas.picture.source, 1 - 2**-3, atol=1e-6)
    assert "From the source: 88% of every row, whatever the text" in notes(heatmap)


def test_the_shares_of_several_layers_are_said_in_their_order(
    session: Session, heatmap: Heatmap
) -> None:
    session.select(kind=C, layer=0, head=0, others=((1, 0),))
    session.change_options(quantity=Quantity.ROLLOUT, combine=Combine.SIDE_BY_SIDE)
    assert heatmap.grid._names == ("layer 1", "layer 2")
    assert "From the source: 50%, 75% of every row" in notes(heatmap)


# The colour scale


@pytest.mark.parametrize("quantity", [Quantity.LAYER_NORM, Quantity.ROLLOUT, Quantity.ALTI])
def test_one_colour_is_one_value_in_all_layers_and_the_largest_is_the_darkest(
    session: Session, heatmap: Heatmap, quantity: Quantity
) -> None:
    session.select(kind=C)
    session.change_options(quantity=quantity)
    maps = heatmap._quantities.found.trace
    top = max(maps.weights(C, layer, 0).max() for layer in range(3))
    legends = []
    for layer in range(3):
        session.select(layer=layer)
        legends.append(heatmap.canvas.picture.legend)
    assert legends[0] == legends[1] == legends[2]
    assert legends[0].ticks[0] == (1, f"{top:.3g}")
    assert legends[0].caption[1] == f"0–{top:.3g}, all layers"


def test_the_choice_of_the_scale_speaks_of_what_is_shown(
    session: Session, heatmap: Heatmap
) -> None:
    box = heatmap.controls.scale
    assert (box.itemText(0), box.itemText(2)) == ("Absolute 0–1", "Per head")
    session.change_options(quantity=Quantity.NORM)
    assert (box.itemText(0), box.itemText(2)) == ("Across heads", "Per head")
    assert "largest norm of all heads" in box.toolTip()
    session.change_options(quantity=Quantity.ALTI)
    assert (box.itemText(0), box.itemText(2)) == ("Across layers", "Per layer")
    assert "largest share of all layers" in box.toolTip()


def test_the_exported_picture_has_the_quantity_in_its_name_and_title(
    session: Session, heatmap: Heatmap
) -> None:
    session.change_options(quantity=Quantity.ALTI, scale=Scale.ROW)
    assert heatmap.export_name() == "Source in the encoder · ALTI+ after layer 1"
    assert "ALTI+ after layer 1" in heatmap._heading.title
