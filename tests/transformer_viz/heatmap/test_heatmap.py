from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Trace
from tests.transformer_viz.stage import texts, weights_alone
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.heatmap import shown_maps
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.state.options import ColorMap
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Phase, Session, Status

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


@pytest.fixture
def heatmap(session: Session, show) -> Heatmap:
    return show(Heatmap(session, weights_alone(session)))


def center(heatmap: Heatmap, query: int, key: int) -> QPoint:
    return heatmap.canvas.cell_rect(query, key).center().toPoint()


def click(qtbot: QtBot, heatmap: Heatmap, query: int, key: int) -> None:
    viewport = heatmap.canvas
    qtbot.mouseMove(viewport, center(heatmap, query, key))
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=center(heatmap, query, key))


def hover(qtbot: QtBot, heatmap: Heatmap, point: QPoint) -> None:
    qtbot.mouseMove(heatmap.canvas, point + QPoint(1, 1))
    qtbot.mouseMove(heatmap.canvas, point)


def one_hot(queries: int, keys: int, query: int, key: int) -> np.ndarray:
    """[1, 1, Q, K]: weight 1 at one cell, and rows elsewhere that look at key 0."""
    weights = np.zeros((1, 1, queries, keys))
    weights[..., 0] = 1
    weights[0, 0, query] = 0
    weights[0, 0, query, key] = 1
    return weights


# Painting


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("cell", [(2, 6), (7, 1), (0, 8)])
def test_a_hot_cell_is_painted_at_its_row_and_column(
    session: Session, make_trace: Callable[..., Trace], show, pixel, theme: Theme, cell
) -> None:
    session.set_trace(make_trace(maps={E: one_hot(9, 9, *cell)}))
    heatmap = show(Heatmap(session, weights_alone(session)))
    heatmap.apply_theme(theme)
    table = lookup_table(ColorMap.PAPER, theme)
    for query in range(9):
        for key in (*range(1, 9),):
            expected = table[255 if (query, key) == cell else 1].tolist()
            assert pixel(heatmap.canvas, center(heatmap, query, key)) == expected


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_masked_cell_is_hatched_and_a_zero_is_not(
    session: Session, make_trace, show, pixels, theme: Theme
) -> None:
    queries = len(session.trace.target_tokens)
    session.set_trace(make_trace(maps={D: one_hot(queries, queries, 5, 3)}))
    session.select(kind=D)
    heatmap = show(Heatmap(session, weights_alone(session)))
    heatmap.apply_theme(theme)

    def colors(query: int, key: int) -> np.ndarray:
        inside = heatmap.canvas.cell_rect(query, key).toRect().adjusted(3, 3, -3, -3)
        return np.unique(pixels(heatmap.canvas, inside).reshape(-1, 4), axis=0)

    zero = colors(4, 2)
    assert len(zero) == 1
    assert zero[0].tolist() == lookup_table(ColorMap.PAPER, theme)[1].tolist()
    masked = colors(2, 4)
    assert len(masked) == 2, "ground and lines"
    assert zero[0].tolist() not in masked.tolist()


def test_cells_are_square_and_grow_with_the_window(heatmap: Heatmap) -> None:
    small = heatmap.canvas.cell_rect(0, 0)
    assert small.width() == pytest.approx(small.height())
    heatmap.resize(1300, 1100)
    large = heatmap.canvas.cell_rect(0, 0)
    assert large.width() > 1.3 * small.width()
    last = heatmap.canvas.cell_rect(8, 8)
    assert heatmap.canvas.rect().contains(last.toRect()), "all of it is in sight"


def test_another_colour_map_and_theme_change_the_picture(heatmap: Heatmap, pixels) -> None:
    pictures = [pixels(heatmap.canvas).tobytes()]
    heatmap.set_color_map("viridis")
    pictures.append(pixels(heatmap.canvas).tobytes())
    heatmap.apply_theme(DARK)
    pictures.append(pixels(heatmap.canvas).tobytes())
    assert len(set(pictures)) == 3


def test_a_thin_line_beside_the_diagonal_of_a_long_text_is_seen(
    session: Session, make_trace, show, pixels, qtbot
) -> None:
    count = 1500
    weights = np.eye(count, k=-1, dtype=np.float32)[None, None]
    session.set_trace(make_trace(["▁a"] * (count - 1) + ["</s>"], maps={E: weights}))
    heatmap = show(Heatmap(session, weights_alone(session)))
    qtbot.waitUntil(lambda: not heatmap._maps.running, timeout=20_000)
    darkest = lookup_table(ColorMap.PAPER, LIGHT)[255]
    rect = heatmap.canvas.matrix_rect().toRect().adjusted(2, 2, -2, -2)
    inside = (pixels(heatmap.canvas, rect) == darkest).all(axis=2)
    assert inside.any(axis=1)[5:].all(), "in every line of pixels"
    assert inside.mean() < 0.02, "and thin"


# Pointer


def test_a_click_pins_and_a_second_click_releases(qtbot, session, heatmap: Heatmap) -> None:
    click(qtbot, heatmap, 4, 1)
    assert (session.selection.query, session.selection.key) == (4, 1)
    click(qtbot, heatmap, 4, 1)
    assert (session.selection.query, session.selection.key) == (None, None)


def test_a_drag_does_not_pin(qtbot, session, heatmap: Heatmap) -> None:
    viewport = heatmap.canvas
    start, end = center(heatmap, 2, 2), center(heatmap, 5, 6)
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 6):
        qtbot.mouseMove(viewport, start + (end - start) * step / 5)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)
    assert session.selection.query is None


def test_hover_previews_and_the_pin_comes_back(qtbot, session, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    hover(qtbot, heatmap, center(heatmap, 6, 2))
    assert session.hover == (6, 2)
    assert session.focus == (6, 2)
    QApplication.sendEvent(heatmap.canvas, QEvent(QEvent.Type.Leave))
    assert session.focus == (4, 1)


def test_labels_point_at_their_row_or_column(qtbot, session, heatmap: Heatmap) -> None:
    cell = heatmap.canvas.cell_rect(3, 0)
    hover(qtbot, heatmap, QPoint(int(cell.left()) - 20, int(cell.center().y())))
    assert session.hover == (3, None)
    cell = heatmap.canvas.cell_rect(0, 5)
    hover(qtbot, heatmap, QPoint(int(cell.center().x()), int(cell.top()) - 5))
    assert session.hover == (None, 5)
    corner = heatmap.canvas.matrix_rect().topLeft().toPoint()
    hover(qtbot, heatmap, corner - QPoint(30, 30))
    assert session.hover == (None, None)


def test_the_card_reads_the_exact_numbers(session, trace: Trace, heatmap: Heatmap) -> None:
    session.set_hover(4, 1)
    weight = trace.weights(E, 0, 0)[4, 1]
    score = trace.scores(E, 0, 0)[4, 1]
    shown = texts(heatmap.readout)
    assert "it → animal" in shown
    assert f"{weight:.4f}" in shown
    assert f"{score:.2f}".replace("-", "−") in shown
    width = trace.attention[E].projections[0].query.shape[-1]
    assert f"{score * width**0.5:.2f}".replace("-", "−") in shown, "the raw score"


def test_a_decoder_card_says_what_the_row_predicts(session, heatmap: Heatmap) -> None:
    session.select(kind=C)
    session.set_hover(1, 2)
    assert {"Das → slept", "predicts", "Tier"} <= set(texts(heatmap.readout))


def test_a_masked_cell_has_no_weight(session, heatmap: Heatmap) -> None:
    session.select(kind=D)
    session.set_hover(2, 5)
    shown = texts(heatmap.readout)
    assert not {"weight", "0.0000"} & set(shown)
    assert {"masked", "a later token"} <= set(shown)


def test_the_card_stays_inside(session, heatmap: Heatmap) -> None:
    for query in (0, 8):
        for key in (0, 8):
            session.set_hover(query, key)
            assert heatmap.canvas.rect().contains(heatmap.readout.geometry())


def test_the_card_goes_with_the_pointer(qtbot, session, heatmap: Heatmap) -> None:
    click(qtbot, heatmap, 4, 1)
    assert heatmap.readout.isVisible()
    QApplication.sendEvent(heatmap.canvas, QEvent(QEvent.Type.Leave))
    assert session.selection.pinned == ((4, 1),)
    assert not heatmap.readout.isVisible(), "the tag reads the pinned cell"


def test_the_card_follows_the_keyboard_and_goes_with_it(qtbot, session, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    heatmap.canvas.setFocus()
    assert not heatmap.readout.isVisible()
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Right)
    assert "it → slept" in texts(heatmap.readout)
    heatmap.controls.merge_words.setFocus()
    assert not heatmap.readout.isVisible()
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Left)
    assert heatmap.readout.isVisible()
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Escape)
    assert not heatmap.readout.isVisible()
    session.pin(4, 1)
    assert not heatmap.readout.isVisible(), "pinned elsewhere, and not moved to"


def test_a_trace_of_maps_alone_has_no_score(session, make_trace, heatmap: Heatmap) -> None:
    session.set_trace(make_trace(maps={E: one_hot(9, 9, 2, 2)}))
    session.set_hover(2, 2)
    shown = texts(heatmap.readout)
    assert "1.0000" in shown
    assert not any("score" in text for text in shown)


# Zoom


def wheel(heatmap: Heatmap, point: QPoint, steps: int) -> None:
    viewport = heatmap.canvas
    event = QWheelEvent(
        QPointF(point),
        QPointF(viewport.mapToGlobal(point)),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


def test_the_wheel_zooms_where_the_pointer_is_and_0_fits(qtbot, heatmap: Heatmap) -> None:
    whole = heatmap.canvas.cell_rect(4, 4)
    wheel(heatmap, center(heatmap, 4, 4), 5)
    zoomed = heatmap.canvas.cell_rect(4, 4)
    assert zoomed.width() > 1.3 * whole.width()
    assert zoomed.width() == pytest.approx(zoomed.height())
    assert zoomed.contains(whole.center())
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_0)
    assert heatmap.canvas.cell_rect(4, 4).width() == pytest.approx(whole.width())


def test_one_cannot_zoom_out_of_the_map(heatmap: Heatmap) -> None:
    whole = heatmap.canvas.cell_rect(0, 0)
    wheel(heatmap, center(heatmap, 4, 4), -20)
    after = heatmap.canvas.cell_rect(0, 0)
    assert after.width() == pytest.approx(whole.width())
    assert after.left() == pytest.approx(whole.left())


def test_keys_zoom_and_a_drag_pans(qtbot, session, heatmap: Heatmap) -> None:
    for _ in range(4):
        qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Plus)
    before = heatmap.canvas.cell_rect(4, 4)
    viewport = heatmap.canvas
    start = heatmap.canvas.matrix_rect().center().toPoint()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 9):
        qtbot.mouseMove(viewport, start - QPoint(10 * step, 5 * step))
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start - QPoint(80, 40))
    after = heatmap.canvas.cell_rect(4, 4)
    assert after.left() < before.left() - 40
    assert after.width() == pytest.approx(before.width())
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Home)
    assert heatmap.canvas.fitted


def test_the_zoom_stays_on_another_head_and_goes_with_another_text(
    session, make_trace, heatmap: Heatmap
) -> None:
    heatmap.canvas.zoom(2)
    side = heatmap.canvas.cell
    session.select(head=2)
    assert heatmap.canvas.cell == pytest.approx(side)
    session.set_trace(make_trace("▁One ▁word </s>"))
    assert heatmap.canvas.fitted


def test_a_long_map_opens_with_its_pin_in_sight_and_0_fits_it(
    session, make_trace, heatmap: Heatmap, qtbot
) -> None:
    session.select(kind=C)
    session.set_trace(make_trace(["▁a"] * 249 + ["</s>"]))
    canvas = heatmap.canvas
    line = canvas.fontMetrics().height()
    assert canvas.cell == pytest.approx(line)
    assert canvas.matrix_rect().contains(canvas.cell_rect(0, 0))
    session.pin(3, 240)
    assert canvas.matrix_rect().adjusted(-1, -1, 1, 1).contains(canvas.cell_rect(3, 240))
    heatmap.resize(1000, 720)
    QApplication.processEvents()
    assert canvas.matrix_rect().adjusted(-1, -1, 1, 1).contains(canvas.cell_rect(3, 240))
    click(qtbot, heatmap, 3, 235)
    before = canvas.cell_rect(3, 240)
    session.pin(0, 0)
    assert canvas.cell_rect(3, 240) == before, "who clicks has looked around"
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert canvas.fitted


def test_zooming_keeps_cells_where_they_belong(session, make_trace, show, pixel, qtbot) -> None:
    count = 200
    session.set_trace(
        make_trace(["▁a"] * (count - 1) + ["</s>"], maps={E: one_hot(count, count, 120, 70)})
    )
    heatmap = show(Heatmap(session, weights_alone(session)))
    session.pin(120, 70)
    heatmap.canvas.zoom(6)
    session.release()
    darkest = lookup_table(ColorMap.PAPER, LIGHT)[255].tolist()
    assert pixel(heatmap.canvas, center(heatmap, 120, 70)) == darkest


# Keyboard


def test_arrows_move_the_cell_cursor(qtbot, session, heatmap: Heatmap) -> None:
    canvas = heatmap.canvas
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert (session.selection.query, session.selection.key) == (0, 0), "the first key enters"
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left):
        qtbot.keyClick(canvas, key)
    assert (session.selection.query, session.selection.key) == (1, 1)
    qtbot.keyClick(canvas, Qt.Key.Key_PageDown)
    qtbot.keyClick(canvas, Qt.Key.Key_Up)
    assert (session.selection.query, session.selection.key) == (7, 1)
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert (session.selection.query, session.selection.key) == (None, None)


def test_the_cursor_starts_where_the_pointer_is(qtbot, session, heatmap: Heatmap) -> None:
    session.set_hover(4, 4)
    qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Down)
    assert (session.selection.query, session.selection.key) == (5, 4)
    assert session.hover == (None, None)


def test_the_cursor_stays_in_sight(qtbot, session, heatmap: Heatmap) -> None:
    session.pin(0, 0)
    heatmap.canvas.zoom(3)
    for _ in range(8):
        qtbot.keyClick(heatmap.canvas, Qt.Key.Key_Right)
        cell = heatmap.canvas.cell_rect(0, session.selection.key).center()
        assert heatmap.canvas.matrix_rect().contains(cell)
        assert heatmap.readout.isVisible()


def test_a_screen_reader_hears_the_cell(session, trace: Trace, heatmap: Heatmap) -> None:
    session.pin(4, 1)
    weight = trace.weights(E, 0, 0)[4, 1]
    heard = heatmap.canvas.accessibleDescription()
    assert "layer 1 · head 1" in heard
    assert f"it (5) → animal (2): weight {weight:.4f}" in heard
    session.select(kind=D, query=1, key=3)
    assert heatmap.canvas.accessibleDescription().endswith("masked")


# States


def test_titles_follow_the_selection(session, heatmap: Heatmap) -> None:
    assert "Encoder self-attention · layer 1 · head 1" in texts(heatmap)
    session.select(kind=C, layer=2, head=1)
    assert "Cross-attention · layer 3 · head 2" in texts(heatmap)


def test_every_phase_has_a_look(qapp, make_trace, show) -> None:
    session = Session()
    heatmap = show(Heatmap(session, weights_alone(session)))
    assert not heatmap.canvas.isVisible()
    session.set_status(Status(Phase.LOADING, "Loading the engine…"))
    assert "Loading the engine…" in texts(heatmap)
    session.set_status(Status(Phase.EMPTY))
    assert any("Type" in text for text in texts(heatmap))
    session.set_status(Status(Phase.FAILED, "The file is not a model."))
    assert any("The file is not a model." in text for text in texts(heatmap))
    session.set_status(Status(Phase.READY))
    session.set_trace(make_trace())
    assert heatmap.canvas.isVisible()
    session.set_trace(None)
    assert not heatmap.canvas.isVisible()


def test_a_stale_picture_is_faded_and_says_so(session, heatmap: Heatmap, pixels) -> None:
    inside = heatmap.canvas.matrix_rect().toRect()
    fresh = pixels(heatmap.canvas, inside)
    session.set_status(Status(Phase.BUSY, "Translating…"))
    assert "Translating…" in texts(heatmap)
    assert pixels(heatmap.canvas, inside).mean() > fresh.mean() + 1
    session.set_status(Status(Phase.READY))
    assert (pixels(heatmap.canvas, inside) == fresh).all()


def test_a_failure_leaves_the_picture_in_its_place(session, heatmap: Heatmap) -> None:
    before = heatmap.canvas.geometry()
    session.set_status(Status(Phase.FAILED, "This text is too long."))
    assert "⚠ This text is too long." in texts(heatmap)
    assert heatmap.canvas.isVisible()
    assert heatmap.canvas.geometry() == before


@pytest.mark.parametrize(
    "word", ["<b>bold</b>", "😀", "日本語", "שלום", "x" * 80, "\x00", "\ud800", "&"], ids=ascii
)
@pytest.mark.parametrize("kind", [E, D, C])
def test_any_token_can_be_shown(session, make_trace, show, pixels, word: str, kind) -> None:
    session.set_trace(make_trace(["▁" + word, "?" + word, "</s>"], ["<s>", word]))
    session.select(kind=kind)
    heatmap = show(Heatmap(session, weights_alone(session)))
    session.pin(0, 0)
    pixels(heatmap)
    for label in heatmap.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText
    assert heatmap.canvas.matrix_rect().width() > 100


def test_one_token_is_a_picture_too(session, make_trace, show, pixel) -> None:
    session.set_trace(make_trace("</s>", "<s>", encoder=(1,), decoder=(1,)))
    heatmap = show(Heatmap(session, weights_alone(session)))
    darkest = lookup_table(ColorMap.PAPER, LIGHT)[255].tolist()
    assert pixel(heatmap.canvas, center(heatmap, 0, 0)) == darkest


def test_a_large_map_is_made_beside_the_event_loop(
    session, make_trace, show, qtbot, monkeypatch
) -> None:
    monkeypatch.setattr(shown_maps, "INLINE_CELLS", 10)
    session.set_trace(make_trace(seed=1))
    heatmap = show(Heatmap(session, weights_alone(session)))
    assert "Drawing…" in texts(heatmap)
    session.set_hover(1, 1)
    assert not heatmap.readout.isVisible(), "no number on a picture that is not there yet"
    qtbot.waitUntil(heatmap.readout.isVisible)
    assert "Drawing…" not in texts(heatmap)


def test_a_small_map_after_a_large_one_stays(
    session, make_trace, heatmap: Heatmap, qtbot, monkeypatch
) -> None:
    monkeypatch.setattr(shown_maps, "INLINE_CELLS", 10)
    session.set_trace(make_trace(seed=1))
    monkeypatch.undo()
    session.set_trace(make_trace("▁One ▁word </s>"))
    qtbot.wait(60)
    assert heatmap.canvas.picture.shape == (3, 3)
    assert "Drawing…" not in texts(heatmap)


def test_the_heatmap_asks_and_never_changes_the_selection_itself(session, heatmap: Heatmap) -> None:
    before = session.selection
    session.set_trace(session.trace)
    assert session.selection == before == Selection()
