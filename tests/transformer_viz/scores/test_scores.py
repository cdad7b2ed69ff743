import re
from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QEvent, QIODevice, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from core.trace.row_steps import row_steps
from core.trace.trace import AttentionKind, ComputedAttention, LayerProjections, Trace
from tests.transformer_viz.stage import texts
from transformer_viz.drawing.diverging import diverging_table, encode_signed
from transformer_viz.drawing.hatch import rgba
from transformer_viz.drawing.numbers import share, signed
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.scores import scores as scores_module
from transformer_viz.scores.score_layout import Column, ScoreLayout, Strip, line_height
from transformer_viz.scores.scores import EXPORTED_LINES, Scores
from transformer_viz.state.session import Phase, Session, Status
from transformer_viz.widgets.elided_label import ElidedLabel

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS
themes = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


@pytest.fixture
def scores(session: Session, show) -> Scores:
    return show(Scores(session))


def test_a_title_without_room_says_so(session: Session, show) -> None:
    session.select(others=((0, 1), (0, 2), (1, 0)))
    scores = show(Scores(session), 480, 600)
    title = next(label for label in scores.findChildren(ElidedLabel) if label.isVisible())
    assert title.text().endswith("(current head of 4 selected)")
    assert QLabel.text(title).endswith("…")


def layout_of(scores: Scores) -> ScoreLayout:
    QApplication.processEvents()  # the widgets' own layout
    return scores.canvas.layout_in(QRectF(scores.canvas.viewport().rect()))


def line_point(scores: Scores, key: int, column: Column = Column.KEY) -> QPoint:
    """A point in a key's line, keys by position."""
    layout = layout_of(scores)
    return layout.cell(column, layout.line(key)).center().toPoint()


def hover(qtbot: QtBot, scores: Scores, point: QPoint) -> None:
    qtbot.mouseMove(scores.canvas.viewport(), point + QPoint(1, 1))
    qtbot.mouseMove(scores.canvas.viewport(), point)


def click(
    qtbot: QtBot,
    scores: Scores,
    key: int,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    point = line_point(scores, key)
    hover(qtbot, scores, point)
    qtbot.mouseClick(scores.canvas.viewport(), Qt.MouseButton.LeftButton, modifier, point)


def press(qtbot: QtBot, scores: Scores, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(scores.canvas, key)


def drawn(scores: Scores) -> list[str]:
    """What the picture says, from top to bottom: the texts of its SVG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    size = scores.export_size()
    generator.setSize(size)
    with QPainter(generator) as painter:
        scores.paint_export(painter, QRectF(QPointF(0, 0), size.toSizeF()).toRect())
    svg = bytes(buffer.data().data()).decode()
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def projections(trace: Trace, kind: AttentionKind, layer: int = 0) -> LayerProjections:
    attention = trace.attention[kind]
    assert isinstance(attention, ComputedAttention)
    return attention.projections[layer]


def entropy(weights: np.ndarray) -> float:
    some = weights[weights > 0]
    return float(-(some * np.log2(some)).sum())


# Numbers


def test_each_line_tells_how_its_weight_comes_about(session: Session, scores: Scores) -> None:
    session.select(layer=1, head=2, query=4)
    one = projections(session.trace, E, 1)
    sums = one.key[2].astype(float) @ one.query[2, 4].astype(float)
    scaled = sums / np.sqrt(8)
    exponentials = np.exp(scaled - scaled.max())
    weights = exponentials / exponentials.sum()
    said = drawn(scores)
    for key in range(9):
        numbers = [signed(sums[key]), signed(scaled[key])]
        numbers += [share(exponentials[key]), share(weights[key])]
        assert any(said[i : i + 4] == numbers for i in range(len(said))), numbers
    assert f"{exponentials.sum():.3f}" in said
    np.testing.assert_allclose(weights, session.trace.row(E, 1, 2, 4), atol=1e-6)


def test_switching_the_scaling_off_lets_the_row_saturate(
    qtbot: QtBot, session: Session, scores: Scores
) -> None:
    session.select(query=3)
    one = projections(session.trace, E)
    sums = one.key[0].astype(float) @ one.query[0, 3].astype(float)
    bits = []
    for divisor in (np.sqrt(8), 1.0):
        exponentials = np.exp((sums - sums.max()) / divisor)
        bits.append(entropy(exponentials / exponentials.sum()))
    assert bits[1] < bits[0]
    both = [f"{value:.2f} bits" for value in bits]
    assert [text for text in drawn(scores) if text.endswith(" bits")] == both
    assert "left out" not in drawn(scores)

    press(qtbot, scores, Qt.Key.Key_S)
    assert not session.options.scores_scaled
    assert not scores.scaling.isChecked()
    assert [text for text in drawn(scores) if text.endswith(" bits")] == both
    assert "left out" in drawn(scores)
    assert drawn(scores).count(signed(float(sums[0]))) >= 2  # sum and score are the same now

    qtbot.mouseClick(scores.scaling, Qt.MouseButton.LeftButton)
    assert session.options.scores_scaled


@themes
def test_the_strips_have_the_colours_of_the_products(
    session: Session, show, pixel, theme: Theme
) -> None:
    session.select(query=2)
    scores = show(Scores(session))
    scores.apply_theme(theme)
    one = projections(session.trace, E)
    products = one.query[0, 2].astype(float) * one.key[0]
    codes = encode_signed(products, float(np.abs(products).max()))
    table = diverging_table(theme)
    layout = layout_of(scores)
    for key in (0, 5, 8):
        strip = layout.strip(Column.PRODUCTS, layout.line(key))
        for dimension in range(8):
            x = strip.left() + (dimension + 0.5) * strip.width() / 8
            point = QPointF(x, strip.center().y()).toPoint()
            assert pixel(scores.canvas.viewport(), point) == table[codes[key, dimension]].tolist()


@themes
def test_masked_keys_are_hatched_and_said_to_be_masked(
    session: Session, show, pixels, theme: Theme
) -> None:
    session.select(kind=D, query=6)
    scores = show(Scores(session))
    scores.apply_theme(theme)
    layout = layout_of(scores)
    hatched = {rgba(theme, "hatch"), rgba(theme, "hatch_paper")}
    for key in range(11):
        cell = layout.cell(Column.VALUES, layout.line(key)).adjusted(2, 6, -2, -6).toRect()
        found = {tuple(c) for c in pixels(scores.canvas.viewport(), cell).reshape(-1, 4).tolist()}
        assert (found >= hatched) == (key > 6), key
    said = drawn(scores)
    assert len([text for text in said if text.startswith("masked: ")]) == 4
    session.set_hover(6, 9)
    strip = layout.strips[Strip.WEIGHTED].toRect().adjusted(1, 1, -1, -1)
    found = pixels(scores.canvas.viewport(), strip).reshape(-1, 4).tolist()
    assert {tuple(color) for color in found} == hatched
    assert "mask, exp" in said


# Which row


def test_without_a_pin_the_row_that_the_scaling_changes_most_is_shown_and_said_to_be(
    session: Session, scores: Scores
) -> None:
    trace = session.trace
    assert trace is not None
    gains = []
    for query in range(len(trace.source_tokens)):
        steps = row_steps(trace, session.selection.primary, query)
        gains.append(steps.entropy - steps.unscaled().entropy)
    assert scores.query == np.argmax(gains)
    assert any("row that changes most without" in text for text in texts(scores))
    session.select(query=4)
    assert any("“it” (5)" in text for text in texts(scores))


def test_the_row_follows_what_is_pointed_at_elsewhere(session: Session, scores: Scores) -> None:
    session.pin(4, 2)
    session.set_hover(6, 1)
    assert (scores.query, scores.key) == (6, 1)
    session.set_hover(None, None)
    assert (scores.query, scores.key) == (4, 2)


def test_the_heaviest_key_is_in_detail_until_one_is_chosen(
    session: Session, scores: Scores
) -> None:
    session.select(query=4)
    assert scores.key == session.trace.row(E, 0, 0, 4).argmax()


def test_leaving_the_scaling_out_goes_to_a_row_where_that_is_seen(
    session: Session, scores: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling = scores.query
    monkeypatch.setattr(scores_module, "CLEAR_EFFECT", 1e-6)
    session.pin(4, 2)
    scores.show_scaling()
    assert (scores.query, session.options.scores_scaled) == (4, False)  # this row shows it too
    scores.show_scaling()
    monkeypatch.setattr(scores_module, "CLEAR_EFFECT", 10.0)
    scores.show_scaling()
    assert (scores.query, session.options.scores_scaled) == (telling, False)
    scores.show_scaling()
    assert (scores.query, session.options.scores_scaled) == (telling, True)


def test_of_several_heads_the_current_one_is_shown(session: Session, scores: Scores) -> None:
    session.select(layer=1, head=1, others=((0, 0), (0, 2)))
    assert any("current head of 3 selected" in text for text in texts(scores))
    session.select(others=())
    assert not any("selected" in text for text in texts(scores))


def test_a_decoder_row_says_what_it_predicts(session: Session, scores: Scores) -> None:
    session.select(kind=C, query=2, key=1)
    said = drawn(scores)
    assert "animal" in said
    assert "Tier" in said
    assert "sch" in said


# Mouse


def test_pointing_at_a_key_previews_and_clicking_pins(
    qtbot: QtBot, session: Session, scores: Scores
) -> None:
    session.select(query=4)
    hover(qtbot, scores, line_point(scores, 6))
    assert session.hover == (4, 6)
    assert "it → tired" in drawn(scores)
    click(qtbot, scores, 6)
    assert (session.selection.query, session.selection.key) == (4, 6)
    QApplication.sendEvent(scores.canvas, QEvent(QEvent.Type.Leave))
    assert session.hover == (None, None)
    assert scores.key == 6
    click(qtbot, scores, 6)
    assert session.selection.pinned == ()


def test_ctrl_pins_beside_and_every_pin_of_the_row_is_marked(
    qtbot: QtBot, session: Session, scores: Scores, pixel
) -> None:
    session.pin(4, 2)
    click(qtbot, scores, 6, Qt.KeyboardModifier.ControlModifier)
    assert session.selection.pinned == ((4, 2), (4, 6))
    press(qtbot, scores, Qt.Key.Key_Down)
    assert session.selection.pinned == ((4, 2), (4, 7))

    def marked() -> list[int]:
        layout, accent = layout_of(scores), list(LIGHT.color("accent").getRgb())
        points = [QPointF(1, layout.line(key).center().y()).toPoint() for key in range(9)]
        colors = [pixel(scores.canvas.viewport(), point) for point in points]
        return [key for key, color in enumerate(colors) if color == accent]

    assert marked() == [2, 7]
    session.set_hover(5, 0)
    assert marked() == []
    session.set_hover(None, None)
    click(qtbot, scores, 2, Qt.KeyboardModifier.ControlModifier)
    assert session.selection.pinned == ((4, 7),)


def test_the_numbers_of_the_dimension_under_the_mouse(
    qtbot: QtBot, session: Session, scores: Scores
) -> None:
    session.pin(4, 6)
    one = projections(session.trace, E)
    rect = layout_of(scores).strips[Strip.KEY]
    point = QPointF(rect.left() + 2.5 / 8 * rect.width(), rect.center().y()).toPoint()
    hover(qtbot, scores, point)
    q, k = float(one.query[0, 4, 2]), float(one.key[0, 6, 2])
    expected = f"q {signed(q, 3)} × k {signed(k, 3)} = {signed(q * k, 3)}"
    assert any(text.startswith("dimension 3 of 8") and expected in text for text in drawn(scores))

    rect = layout_of(scores).strips[Strip.OUTPUT]
    hover(qtbot, scores, QPointF(rect.right() - 2, rect.center().y()).toPoint())
    z = float(session.trace.row(E, 0, 0, 4).astype(float) @ one.value[0, :, 7])
    assert any(
        text.startswith("dimension 8 of 8") and f"z {signed(z, 3)}" in text
        for text in drawn(scores)
    )


def test_tooltips_explain_each_step_and_give_all_digits(session: Session, scores: Scores) -> None:
    session.select(kind=D, query=6)
    layout = layout_of(scores)
    for column in Column:
        point = layout.cell(column, layout.header).center()
        assert len(scores.canvas.tooltip_at(point)) > 20
    weight = session.trace.row(D, 0, 0, 6)[3]
    number = scores.canvas.tooltip_at(QPointF(line_point(scores, 3, Column.WEIGHT)))
    assert float(number.split("weight = ")[1]) == pytest.approx(float(weight), rel=1e-4)
    assert "masked" in scores.canvas.tooltip_at(QPointF(line_point(scores, 9, Column.WEIGHT)))
    assert scores.canvas.tooltip_at(QPointF(line_point(scores, 2))).startswith("3: Tier")


# Keyboard


def test_arrows_move_key_and_query_and_escape_releases(
    qtbot: QtBot, session: Session, scores: Scores
) -> None:
    session.pin(4, 2)
    up, down, left, right = Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right
    for keys, expected in (
        ((down,), (4, 3)),
        ((up, up), (4, 1)),
        ((up, up), (4, 0)),
        ((right, Qt.Key.Key_PageDown), (6, 0)),
        ((left, Qt.Key.Key_PageUp, left), (3, 0)),
        ((left,) * 5, (0, 0)),
    ):
        press(qtbot, scores, *keys)
        assert (session.selection.query, session.selection.key) == expected
    press(qtbot, scores, *(right,) * 12, *(down,) * 12)
    assert (session.selection.query, session.selection.key) == (8, 8)
    press(qtbot, scores, Qt.Key.Key_Escape)
    assert session.selection.pinned == ()


def test_by_weight_the_arrows_follow_the_order_shown(
    qtbot: QtBot, session: Session, scores: Scores
) -> None:
    session.select(kind=D, query=5)
    qtbot.mouseClick(scores.by_weight, Qt.MouseButton.LeftButton)
    heaviest_first = np.argsort(-session.trace.row(D, 0, 0, 5)[:6], kind="stable")
    assert scores.key == heaviest_first[0]
    for key in (*heaviest_first[1:], *range(6, 11)):
        press(qtbot, scores, Qt.Key.Key_Down)
        assert session.selection.key == key or key > 5
        assert session.trace.allowed(D)[5, session.selection.key] == (key <= 5)


def test_a_screen_reader_hears_the_pair_and_the_entropies(session: Session, scores: Scores) -> None:
    session.pin(4, 6)
    said = scores.canvas.accessibleDescription()
    weight = share(float(session.trace.row(E, 0, 0, 4)[6]))
    assert said.startswith("it → tired: ")
    assert f"weight {weight}" in said
    assert f"{entropy(session.trace.row(E, 0, 0, 4)):.2f} bits with the scaling" in said


# States


def test_finished_weights_say_why_there_is_nothing_to_show(
    session: Session, make_trace: Callable[..., Trace], scores: Scores
) -> None:
    session.set_trace(make_trace(maps={E: np.full((1, 1, 9, 9), 1 / 9)}))
    assert any("only finished weights" in text for text in texts(scores))
    assert not scores.canvas.isVisible()
    session.select(kind=C)
    assert scores.canvas.isVisible()
    assert not any("only finished weights" in text for text in texts(scores))


def test_without_a_trace_the_status_is_said(qapp: QApplication, show) -> None:
    session = Session()
    scores = show(Scores(session))
    assert "No sentence yet" in texts(scores)
    session.set_status(Status(Phase.LOADING, "Loading demo…"))
    assert "Loading demo…" in texts(scores)


def test_a_failure_is_said_above_the_last_good_row(session: Session, scores: Scores) -> None:
    session.set_status(Status(Phase.FAILED, "The text is too long."))
    assert "⚠ The text is too long." in texts(scores)
    assert scores.canvas.isVisible()


@themes
def test_a_stale_row_is_faded(session: Session, show, pixels, theme: Theme) -> None:
    scores = show(Scores(session))
    scores.apply_theme(theme)
    before = pixels(scores.canvas).astype(int)
    session.set_status(Status(Phase.BUSY, "Translating…"))
    after = pixels(scores.canvas).astype(int)
    paper = np.array(theme.color("paper").getRgb())
    assert np.abs(after - paper).sum() < 0.6 * np.abs(before - paper).sum()
    session.set_status(Status(Phase.READY))
    assert (pixels(scores.canvas) == before).all()


def test_a_hidden_view_computes_nothing(
    session: Session, show, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    computed = scores_module.row_steps
    monkeypatch.setattr(scores_module, "row_steps", lambda *a: (asked.append(a), computed(*a))[1])
    scores = Scores(session)
    session.select(query=3)
    assert not asked
    show(scores)
    assert len(asked) == 1
    session.set_hover(3, 2)  # the same row: nothing new to compute
    assert len(asked) == 1
    session.set_hover(5, 2)
    assert len(asked) == 2


# Long texts and files


@pytest.fixture
def long_scores(session: Session, make_trace: Callable[..., Trace], show) -> Scores:
    words = [f"▁w{index}" for index in range(3999)]
    session.set_trace(make_trace([*words, "</s>"], "<s> ▁a", encoder=(1,), decoder=(1,)))
    return show(Scores(session))


def test_a_long_text_scrolls_and_draws_what_is_in_view(
    qtbot: QtBot, session: Session, long_scores: Scores
) -> None:
    canvas = long_scores.canvas
    assert len(layout_of(long_scores).visible()) < 40
    session.pin(0, 3990)
    press(qtbot, long_scores, Qt.Key.Key_Down)
    layout = layout_of(long_scores)
    assert session.selection.key == 3991
    assert layout.body.contains(layout.line(3991))
    canvas.verticalScrollBar().setValue(0)
    assert layout_of(long_scores).visible()[0] == 0
    words = [text for text in drawn(long_scores) if re.fullmatch(r"w\d+", text)]
    assert 0 < len(words) < 45


def test_a_file_shows_every_key_of_a_text_that_is_not_too_long(
    session: Session, make_trace: Callable[..., Trace], show
) -> None:
    words = [f"▁w{index}" for index in range(EXPORTED_LINES - 1)]
    session.set_trace(make_trace([*words, "</s>"], "<s> ▁a"))
    said = drawn(show(Scores(session), 900, 400))
    assert {f"w{index}" for index in range(EXPORTED_LINES - 1)} <= set(said)
    assert any("Encoder self-attention · layer 1 · head 1" in text for text in said)


def test_a_long_text_is_exported_as_far_as_it_is_in_view(long_scores: Scores) -> None:
    long_scores.canvas.verticalScrollBar().setValue(2000 * line_height(long_scores.canvas.font()))
    words = [text for text in drawn(long_scores) if re.fullmatch(r"w\d+", text)]
    assert "w2000" in words
    assert "w1" not in words


def test_a_low_room_loses_the_pair_then_lines_but_never_the_current_one(
    session: Session, make_trace: Callable[..., Trace], show
) -> None:
    words = [f"▁w{index}" for index in range(30)]
    session.set_trace(make_trace([*words, "</s>"], "<s> ▁a"))
    scores = show(Scores(session), 900, 400)
    session.pin(0, 20)
    whole = scores.export_size().height()
    assert "w · v" in drawn(scores)
    scores.set_export_room(QSize(700, whole - 20))
    assert scores.export_size().height() <= whole - 20
    assert {f"w{index}" for index in range(30)} <= set(drawn(scores))
    scores.set_export_room(QSize(700, whole // 2))
    assert scores.export_size().height() <= whole // 2
    said = drawn(scores)
    shown = [text for text in said if re.fullmatch(r"w\d+", text)]
    assert "w20" in shown
    assert "w0" not in shown[1:]  # but as the query
    assert any(f"{len(set(shown)) - 1} of 31 keys" in text for text in said)
