"""The heatmap with the session's options: words, hidden specials, thresholds, several heads."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QFont, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QApplication, QComboBox

from core.text.tokens import Token
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.stage import texts, weights_alone
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.heatmap import shown_maps
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.state.options import ColorMap, Combine, Scale

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
# The target of the tests' trace: <s> Das Tier sch lief , weil es müde war .
SCHLIEF = (3, 4)
TABLE = lookup_table(ColorMap.PAPER, LIGHT)


@pytest.fixture
def heatmap(session, show) -> Heatmap:
    return show(Heatmap(session, weights_alone(session)))


def notes(heatmap: Heatmap) -> str:
    return " ".join(texts(heatmap))


def labels(tokens: tuple[Token, ...]) -> list[str]:
    return [token.label for token in tokens]


def move(qtbot, widget, point: QPoint) -> None:
    qtbot.mouseMove(widget, point + QPoint(1, 1))
    qtbot.mouseMove(widget, point)


def choose(qtbot, box: QComboBox, index: int) -> None:
    """By keyboard."""
    box.setFocus()
    for _ in range(abs(index - box.currentIndex())):
        down = index > box.currentIndex()
        qtbot.keyClick(box, Qt.Key.Key_Down if down else Qt.Key.Key_Up)


# Words and specials


def test_a_click_merges_pieces_into_words(qtbot, session, heatmap: Heatmap) -> None:
    session.select(kind=D)
    qtbot.mouseClick(heatmap.controls.merge_words, Qt.MouseButton.LeftButton)
    assert session.options.merge_words
    picture = heatmap.canvas.picture
    assert labels(picture.rows)[3:5] == ["schlief", ","]
    assert labels(picture.predicted)[2:4] == ["sch", ","]
    assert picture.row_numbers[3:5] == (4, 6)
    assert "columns summed, rows averaged" in notes(heatmap)


def test_a_word_reads_the_sum_of_its_columns(session, trace: Trace, heatmap: Heatmap) -> None:
    session.select(kind=D)
    session.change_options(merge_words=True)
    session.set_hover(8, SCHLIEF[0])
    weight = trace.weights(D, 0, 0)[8, list(SCHLIEF)].sum()
    shown = texts(heatmap.readout)
    assert {"müde → schlief", f"{weight:.4f}", "sum of 2 columns"} <= set(shown)
    assert not any("score" in text for text in shown), "a word has no one score"
    heard = heatmap.canvas.accessibleDescription()
    assert heard.endswith(f"müde (9, predicts war) → schlief (4–5): weight {weight:.4f}")


def test_pointing_at_a_word_points_at_its_last_piece(qtbot, session, heatmap: Heatmap) -> None:
    session.select(kind=D)
    session.change_options(merge_words=True)
    move(qtbot, heatmap.canvas, heatmap.canvas.cell_rect(3, 2).center().toPoint())
    assert session.hover == (SCHLIEF[1], 2)


def test_a_pin_on_any_piece_is_the_pin_of_its_word(qtbot, session, heatmap: Heatmap) -> None:
    session.select(kind=D)
    session.pin(SCHLIEF[0], 1)
    session.change_options(merge_words=True)
    point = heatmap.canvas.cell_rect(3, 1).center().toPoint()
    qtbot.mouseClick(heatmap.canvas, Qt.MouseButton.LeftButton, pos=point)
    assert session.selection.pinned == (), "the second click on the same cell releases it"


def test_a_pinned_row_of_a_word_has_the_name_of_the_word(session, heatmap: Heatmap) -> None:
    session.select(kind=D, query=SCHLIEF[1])
    assert heatmap.tray.tags[0].choose.text().strip() == "row lief, predicts ,"
    session.change_options(merge_words=True)
    assert heatmap.tray.tags[0].choose.text().strip() == "row schlief, predicts ,"


def test_hidden_specials_leave_their_weight_behind(
    qtbot, session, trace: Trace, heatmap: Heatmap
) -> None:
    session.select(kind=C)
    qtbot.mouseClick(heatmap.controls.hide_specials, Qt.MouseButton.LeftButton)
    picture = heatmap.canvas.picture
    assert labels(picture.rows)[0] == "Das"
    assert labels(picture.columns)[-1] == "."
    weights = trace.weights(C, 0, 0)
    np.testing.assert_allclose(picture.hidden, weights[1:, -1], atol=1e-6)
    assert f"{100 * weights[1:, -1].mean():.0f}% of the weight" in notes(heatmap)


def test_a_pin_on_a_hidden_token_is_kept_and_said_to_be_hidden(session, heatmap: Heatmap) -> None:
    session.pin(4, 8)
    session.change_options(hide_specials=True)
    assert session.selection.pinned == ((4, 8),)
    assert heatmap.tray.tags[0].choose.text() == "it → </s>  hidden"
    assert not heatmap.readout.isVisible()


def test_nothing_but_specials_is_said_in_words(session, make_trace, heatmap: Heatmap) -> None:
    session.set_trace(make_trace("▁One </s>", "<s>"))
    session.select(kind=C)
    session.change_options(hide_specials=True)
    assert not heatmap.canvas.isVisible()
    assert any("There are only special tokens" in text for text in texts(heatmap))
    session.change_options(hide_specials=False)
    assert heatmap.canvas.isVisible()


# Colours


def test_the_scale_is_chosen_by_keyboard_and_named(qtbot, session, heatmap: Heatmap) -> None:
    choose(qtbot, heatmap.controls.scale, 3)
    assert session.options.scale is Scale.LOG
    assert heatmap.canvas.picture.legend.caption == ("weight, log₁₀", "0.0001–1")
    assert "log" in heatmap.controls.scale.toolTip()


def test_on_the_scale_of_a_row_each_row_has_its_darkest_cell(
    session, trace: Trace, heatmap: Heatmap, pixel
) -> None:
    session.change_options(scale=Scale.ROW)
    for query, key in enumerate(trace.weights(E, 0, 0).argmax(axis=1)):
        middle = heatmap.canvas.cell_rect(query, int(key)).center().toPoint()
        assert pixel(heatmap.canvas, middle) == TABLE[255].tolist()


def test_weights_below_the_threshold_are_paper_and_counted(
    qtbot, session, trace: Trace, heatmap: Heatmap, pixel
) -> None:
    heatmap.set_color_map("viridis")
    heatmap.controls.threshold.setFocus()
    heatmap.controls.threshold.selectAll()
    qtbot.keyClicks(heatmap.controls.threshold, "0.2")
    qtbot.keyClick(heatmap.controls.threshold, Qt.Key.Key_Return)
    assert session.options.threshold == 0.2
    weights = trace.weights(E, 0, 0)
    paper = list(LIGHT.color("paper").getRgb())
    for query in range(9):
        for key in range(9):
            middle = heatmap.canvas.cell_rect(query, key).center().toPoint()
            blank = pixel(heatmap.canvas, middle) == paper
            assert blank == (weights[query, key] < 0.2)
    share = weights[weights < 0.2].sum() / 9
    assert f"Values below 0.2 left blank: {100 * share:.0f}% of the weight" in notes(heatmap)


# Several heads

OTHERS = ((0, 2), (1, 1))


def select_three(session) -> tuple[Head, ...]:
    session.select(kind=E, layer=0, head=0, others=OTHERS)
    return session.selection.heads


def test_several_heads_are_shown_as_their_mean(session, trace: Trace, heatmap: Heatmap) -> None:
    heads = select_three(session)
    assert "Encoder self-attention · mean of 3 heads: 1.1, 1.3, 2.2" in texts(heatmap)
    session.set_hover(4, 1)
    weights = [trace.weights(*head)[4, 1] for head in heads]
    shown = texts(heatmap.readout)
    assert f"{np.mean(weights):.4f}" in shown
    assert all(f"{weight:.4f}" in shown for weight in weights)
    assert not any("score" in text for text in shown)
    heard = heatmap.canvas.accessibleDescription()
    assert heard.endswith(
        f"mean of 3 heads: 1.1, 1.3, 2.2 · it (5) → animal (2): weight {np.mean(weights):.4f}"
    )


def test_the_way_to_combine_waits_for_several_heads(qtbot, session, heatmap: Heatmap) -> None:
    assert not heatmap.controls.combine.isEnabled()
    select_three(session)
    assert heatmap.controls.combine.isEnabled()
    choose(qtbot, heatmap.controls.combine, 1)
    assert session.options.combine is Combine.SIDE_BY_SIDE
    assert heatmap.grid.isVisible()
    assert not heatmap.canvas.isVisible()
    session.select(layer=1, head=0)
    assert heatmap.canvas.isVisible(), "one head is one map"


@pytest.fixture
def side_by_side(session, heatmap: Heatmap) -> Heatmap:
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    select_three(session)
    return heatmap


def in_map(heatmap: Heatmap, index: int, query: int, key: int) -> QPoint:
    return heatmap.grid.grid.tiles[index].cell_rect(query, key).center().toPoint()


def test_each_head_has_its_map(session, trace: Trace, side_by_side: Heatmap, pixel) -> None:
    assert "Encoder self-attention · 3 heads: 1.1, 1.3, 2.2" in texts(side_by_side)
    session.change_options(scale=Scale.HEAD)
    for index, head in enumerate(session.selection.heads):
        weights = trace.weights(*head)
        query, key = np.unravel_index(weights.argmax(), weights.shape)
        point = in_map(side_by_side, index, int(query), int(key))
        assert pixel(side_by_side.grid, point) == TABLE[255].tolist()


def test_maps_side_by_side_are_linked(qtbot, session, side_by_side: Heatmap, pixels) -> None:
    before = pixels(side_by_side.grid)
    move(qtbot, side_by_side.grid, in_map(side_by_side, 1, 4, 1))
    assert session.hover == (4, 1)
    changed = (pixels(side_by_side.grid) != before).any(axis=2)
    for tile in side_by_side.grid.grid.tiles:
        row = tile.cell_rect(4, 6).toRect()
        assert changed[row.top(), row.left() : row.right()].all(), "cross hairs in every map"
    grid = side_by_side.grid
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=in_map(side_by_side, 2, 6, 6))
    assert session.selection.pinned == ((6, 6),)


def test_a_click_on_a_name_makes_its_head_the_current_one(
    qtbot, session, side_by_side: Heatmap
) -> None:
    caption = side_by_side.grid.grid.caption(2).center().toPoint()
    qtbot.mouseClick(side_by_side.grid, Qt.MouseButton.LeftButton, pos=caption)
    assert session.selection.primary == Head(E, 1, 1)
    assert len(session.selection.heads) == 3


def test_keys_move_the_cell_side_by_side_too(qtbot, session, side_by_side: Heatmap) -> None:
    qtbot.keyClick(side_by_side.grid, Qt.Key.Key_Down)
    qtbot.keyClick(side_by_side.grid, Qt.Key.Key_Right)
    assert session.selection.pinned == ((0, 1),)


def test_the_keyboard_stays_with_the_maps(qtbot, session, heatmap: Heatmap) -> None:
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    heatmap.setFocus()
    assert heatmap.canvas.hasFocus()
    select_three(session)
    assert heatmap.grid.hasFocus()
    session.select(layer=1, head=0)
    assert heatmap.canvas.hasFocus()


def test_tab_goes_from_the_map_through_controls_and_tags(qtbot, session, heatmap) -> None:
    select_three(session)
    session.pin(4, 1)
    heatmap.setFocus()
    reached = []
    while QApplication.focusWidget() not in reached:
        reached.append(QApplication.focusWidget())
        qtbot.keyClick(reached[-1], Qt.Key.Key_Tab)
    tag = heatmap.tray.tags[0]
    controls = [heatmap.header.quantity, *heatmap.controls.all]
    assert set(reached) == {heatmap.canvas, *controls, tag.choose, tag.release}
    assert reached[1:8] == controls, "in the order in which they are read"


def test_more_heads_than_fit_are_said_to_be_missing(session, make_trace, show) -> None:
    session.set_trace(make_trace(encoder=(10, 10)))
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    session.select(others=tuple((layer, head) for layer in (0, 1) for head in range(10)))
    heatmap = show(Heatmap(session, weights_alone(session)))
    assert len(heatmap.grid.grid.tiles) == 16
    assert "The first 16 of 20 heads are shown." in notes(heatmap)


def test_large_maps_side_by_side_come_one_by_one(
    session, make_trace, show, qtbot, monkeypatch
) -> None:
    monkeypatch.setattr(shown_maps, "INLINE_CELLS", 10)
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    select_three(session)
    heatmap = show(Heatmap(session, weights_alone(session)))
    assert "Drawing…" in texts(heatmap)
    qtbot.waitUntil(lambda: "Drawing…" not in texts(heatmap))
    assert len(heatmap.grid.grid.tiles) == 3


# Pins


def click(qtbot, heatmap: Heatmap, query: int, key: int, *, beside: bool = False) -> None:
    modifier = Qt.KeyboardModifier.ControlModifier if beside else Qt.KeyboardModifier.NoModifier
    point = heatmap.canvas.cell_rect(query, key).center().toPoint()
    qtbot.mouseClick(heatmap.canvas, Qt.MouseButton.LeftButton, modifier, point)


def test_ctrl_click_pins_beside_and_unpins(qtbot, session, heatmap: Heatmap) -> None:
    click(qtbot, heatmap, 4, 1)
    click(qtbot, heatmap, 2, 3, beside=True)
    click(qtbot, heatmap, 6, 6, beside=True)
    assert session.selection.pinned == ((4, 1), (2, 3), (6, 6))
    click(qtbot, heatmap, 2, 3, beside=True)
    assert session.selection.pinned == ((4, 1), (6, 6))
    click(qtbot, heatmap, 0, 0)
    assert session.selection.pinned == ((0, 0),), "a plain click replaces them"


def test_escape_releases_all(qtbot, session, heatmap: Heatmap) -> None:
    for cell in ((4, 1), (2, 3)):
        session.pin(*cell, add=True)
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Escape)
    assert session.selection.pinned == ()


def test_keys_pin_beside_move_and_release(qtbot, session, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Down, control)
    assert session.selection.pinned == ((4, 1), (5, 1))
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Right)
    assert session.selection.pinned == ((4, 1), (5, 2)), "the others stay where they are"
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Delete)
    assert session.selection.pinned == ((4, 1),)


def test_a_pin_moved_onto_another_is_one_pin(qtbot, session, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    session.pin(4, 2, add=True)
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Left)
    assert session.selection.pinned == ((4, 1),)


def test_tags_have_the_numbers_of_all_pins(qtbot, session, trace: Trace, heatmap: Heatmap) -> None:
    for cell in ((4, 1), (6, 2), (3, None)):
        session.pin(*cell, add=True)
    weights = trace.weights(E, 0, 0)
    assert [tag.choose.text().strip() for tag in heatmap.tray.tags] == [
        f"it → animal  {weights[4, 1]:.3f}",
        f"tired → slept  {weights[6, 2]:.3f}",
        "row because",
    ]
    qtbot.mouseClick(heatmap.tray.tags[1].release, Qt.MouseButton.LeftButton)
    assert session.selection.pinned == ((4, 1), (3, None))
    qtbot.mouseClick(heatmap.tray.tags[0].choose, Qt.MouseButton.LeftButton)
    assert session.selection.pinned == ((3, None), (4, 1)), "the chosen pin is the current one"


def test_the_tag_of_the_current_pin_has_room_for_its_bold_text(session, heatmap: Heatmap) -> None:
    session.pin(0, 0)
    session.pin(4, 1, add=True)
    for tag in heatmap.tray.tags:
        button = tag.choose
        font = QFont(button.font())
        font.setBold(button.isChecked())
        frame = 2 * (1 + 4)  # border and padding
        assert button.width() >= QFontMetrics(font).horizontalAdvance(button.text()) + frame


def test_pointing_at_a_tag_points_at_its_cell(qtbot, session, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    session.pin(6, 2, add=True)
    tag = heatmap.tray.tags[0]
    QApplication.sendEvent(tag, QEnterEvent(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2)))
    assert session.hover == (4, 1)
    QApplication.sendEvent(tag, QEvent(QEvent.Type.Leave))
    assert session.hover == (None, None)


def test_without_a_pin_the_tray_says_how_to_pin(session, heatmap: Heatmap) -> None:
    assert any("Ctrl+click" in text for text in texts(heatmap.tray))
    session.pin(4, 1)
    assert not any("Ctrl+click" in text for text in texts(heatmap.tray))


def test_many_pins_leave_room_for_the_map(session, heatmap: Heatmap) -> None:
    for index in range(80):
        session.pin(index // 9, index % 9, add=True)
    assert len(heatmap.tray.tags) == 12
    assert "68 earlier pins and" in texts(heatmap.tray)
    assert heatmap.canvas.height() > 300


def test_in_a_narrow_window_every_control_and_tag_is_in_sight(session, show) -> None:
    for cell in ((4, 1), (6, 2), (3, 3), (0, 0)):
        session.pin(*cell, add=True)
    heatmap = show(Heatmap(session, weights_alone(session)), 420, 560)
    controls = heatmap.controls
    assert controls.height() >= controls.heightForWidth(controls.width())
    for box in (controls.fit, controls.combine):
        assert controls.rect().contains(box.geometry())
    for tag in heatmap.tray.tags:
        assert heatmap.tray.rect().contains(tag.geometry())
    assert heatmap.canvas.height() > 200


def test_another_head_has_other_numbers(session, trace: Trace, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    session.select(head=2)
    expected = f"it → animal  {trace.weights(E, 0, 2)[4, 1]:.3f}"
    assert heatmap.tray.tags[0].choose.text() == expected


# For a file


def exported(heatmap: Heatmap) -> np.ndarray:
    image = QImage(heatmap.export_size(), QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        heatmap.paint_export(painter, image.rect())
    return to_array(image)


@pytest.mark.parametrize("several", [False, True])
def test_the_exported_picture_has_the_map_and_nothing_for_the_mouse(
    session, heatmap: Heatmap, several: bool
) -> None:
    if several:
        session.change_options(combine=Combine.SIDE_BY_SIDE)
        select_three(session)
    plain = exported(heatmap)
    assert (plain[:30] != LIGHT.color("paper").getRgb()).any(), "the title"
    session.set_hover(4, 1)
    assert (exported(heatmap) == plain).all()
    session.pin(4, 1)
    assert (exported(heatmap) != plain).any(), "pins are part of the figure"


def test_a_low_view_keeps_its_height_for_the_map(session, show, qtbot) -> None:
    """What is left out is a tooltip or in the inspector; what was changed about the map is said."""
    heatmap = show(Heatmap(session, weights_alone(session)), height=260)
    header = heatmap.header
    whole = header.said
    assert "attention alone is not an explanation" in whole
    for hidden in (header.title, header.notes, heatmap.tray, heatmap.controls.combine):
        assert not hidden.isVisible()
    assert "attention alone is not an explanation" in header.quantity.toolTip()
    qtbot.waitUntil(lambda: heatmap.canvas.height() > 200)
    session.change_options(merge_words=True)
    assert header.notes.text() == "Pieces merged into words: columns summed, rows averaged."
    assert header.notes.isVisible()
    session.pin(1, 1)
    assert heatmap.tray.isVisible()
    session.select(others=((0, 1),))
    assert heatmap.controls.combine.isVisible()
    heatmap.resize(900, 200)
    assert not heatmap.tray.isVisible()
    heatmap.resize(900, 700)
    assert header.title.isVisible()
    assert header.notes.text() == header.said
    assert header.said.startswith(whole.split(";")[0])
