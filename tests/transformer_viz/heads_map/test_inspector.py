import html

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolTip

from core.statistics.registry import OF_MAPS
from core.statistics.registry import statistic as by_id
from core.statistics.rows import head_statistics
from core.trace.trace import AttentionKind, Trace
from tests.transformer_viz.answers import quantities_of
from tests.transformer_viz.stage import texts
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.role_lines import RoleLines
from transformer_viz.heads_map import measured_heads
from transformer_viz.heads_map.bars import row_height
from transformer_viz.heads_map.inspector import CAVEAT, Inspector
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.state.linking import Place, linked
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.words.measures import spread

E, D, C = AttentionKind.ENCODER_SELF, AttentionKind.DECODER_SELF, AttentionKind.CROSS


def made(session: Session) -> Inspector:
    roles = RoleLines(session, HeadAnalysis(session, None, session))
    return Inspector(
        session,
        quantities_of(session),
        MeasuredHeads(session, session),
        Spotlight(session, session),
        roles,
    )


@pytest.fixture
def inspector(session: Session, show) -> Inspector:
    return show(made(session), 280, 600)


def value(inspector: Inspector, name: str) -> str:
    (label,) = (w for w in inspector.findChildren(QLabel) if w.accessibleName() == name)
    return label.text()


def row_point(row: int) -> QPoint:
    height = row_height(QApplication.font())
    return QPoint(30, row * height + height // 2)


def test_the_pinned_query_and_its_heaviest_keys(session, trace: Trace, inspector) -> None:
    session.pin(4, 1)
    assert "“it” looks at" in texts(inspector)
    row = trace.row(E, 0, 0, 4)
    bars = inspector.bars._bars
    assert [bar.key for bar in bars] == list(np.argsort(-row, kind="stable")[:8])
    assert bars[0].weight == pytest.approx(row.max())
    assert f"({bars[0].key + 1}) {row.max():.3f}" in inspector.bars.accessibleDescription()


def test_hover_comes_before_the_pin(session, inspector) -> None:
    session.pin(4, 1)
    session.set_hover(2, 0)
    assert "“slept” looks at" in texts(inspector)
    session.set_hover(None, 3)
    assert "“it” looks at" in texts(inspector), "a column alone leaves the pinned row"
    session.release()
    assert not any("looks at" in text for text in texts(inspector) if text.startswith("“"))


def test_a_decoder_query_says_what_it_predicts(session, inspector) -> None:
    session.select(kind=D, query=1)
    assert "“Das” looks at" in texts(inspector)
    assert "before it predicts “Tier”" in texts(inspector)
    assert len(inspector.bars._bars) == 2, "what is masked is not listed"


def test_merged_words_are_one_query_and_one_bar(qtbot, session, trace: Trace, inspector) -> None:
    """The target is <s> Das Tier sch lief , weil …"""
    session.select(kind=D, query=3)
    assert "“sch” looks at" in texts(inspector)
    session.change_options(merge_words=True)
    assert {"“schlief” looks at", "before it predicts “,”"} <= set(texts(inspector))
    weights = trace.weights(D, 0, 0)[3:5, 3:5].sum(axis=1).mean()
    (word,) = (bar for bar in inspector.bars._bars if bar.token.label == "schlief")
    assert word.weight == pytest.approx(weights, abs=1e-6)
    assert f"schlief (4–5) {weights:.3f}" in inspector.bars.accessibleDescription()
    assert len(inspector.bars._bars) == 4
    session.pin(3, 3)
    assert inspector.bars._marked == word.key, "a pin on any piece is on the word"


def test_the_statistics_of_the_head(session, trace: Trace, inspector) -> None:
    session.select(kind=E, layer=1, head=2)
    expected = head_statistics(trace, E, 1, 2)
    assert value(inspector, "entropy") == (
        f"{expected['entropy']:.2f} of {expected.entropy_limit:.2f} bits"
    )
    assert value(inspector, "confidence") == f"{expected['confidence']:.2f}"
    assert value(inspector, "mean distance") == f"{expected['mean_distance']:.1f} tokens"
    shares = tuple(
        value(inspector, name) for name in ("previous token", "same token", "next token")
    )
    assert shares == tuple(
        f"{share:.2f}" for share in (expected[id] for id in ("previous", "same", "next"))
    )
    assert value(inspector, "special tokens") == f"{expected['special']:.2f}"


def test_cross_attention_has_no_distance(session, inspector) -> None:
    session.select(kind=C)
    assert value(inspector, "mean distance") == "–"
    assert value(inspector, "next token") == "–"


def test_every_statistic_explains_itself(inspector) -> None:
    for statistic in OF_MAPS:
        (label,) = (
            w for w in inspector.findChildren(QLabel) if w.accessibleName() == statistic.name
        )
        tooltip = html.unescape(label.toolTip()).replace("\n", " ")
        assert statistic.explanation in tooltip
        assert label.accessibleDescription() == statistic.explanation


def test_the_caveat_is_there(inspector) -> None:
    assert CAVEAT in texts(inspector)


def test_a_click_on_a_bar_pins_its_key(qtbot, session, inspector) -> None:
    session.pin(4)
    key = inspector.bars._bars[2].key
    qtbot.mouseClick(inspector.bars, Qt.MouseButton.LeftButton, pos=row_point(2))
    assert (session.selection.query, session.selection.key) == (4, key)


def test_keys_walk_the_bars(qtbot, session, inspector) -> None:
    session.pin(4)
    keys = [bar.key for bar in inspector.bars._bars]
    for expected in (keys[0], keys[1], keys[2]):
        qtbot.keyClick(inspector.bars, Qt.Key.Key_Down)
        assert session.selection.key == expected
    qtbot.keyClick(inspector.bars, Qt.Key.Key_Up)
    assert session.selection.key == keys[1]


def test_pointing_at_a_bar_shows_its_cell(qtbot, session, inspector) -> None:
    session.pin(4)
    QApplication.processEvents()
    key = inspector.bars._bars[1].key
    qtbot.mouseMove(inspector.bars, row_point(1))
    assert session.hover == (4, key)
    qtbot.mouseMove(inspector.bars, row_point(20))
    assert session.hover == (None, None)


def test_it_scrolls_when_small_and_numbers_stay_in_sight(session, inspector) -> None:
    session.pin(4)
    inspector.resize(240, 160)
    assert inspector.verticalScrollBar().maximum() > 0
    assert inspector.widget().width() <= inspector.viewport().width()


def test_without_a_trace_there_are_no_numbers(show) -> None:
    inspector = show(made(Session()), 280, 600)
    assert all(value(inspector, statistic.name) == "" for statistic in OF_MAPS)


def test_a_large_map_is_measured_beside_the_event_loop(
    qtbot, session, make_trace, show, monkeypatch
) -> None:
    monkeypatch.setattr(measured_heads, "INLINE_CELLS", 10)
    trace = make_trace(seed=3)
    session.set_trace(trace)
    inspector = show(made(session), 280, 600)
    assert value(inspector, "entropy") == "…"
    qtbot.waitUntil(lambda: value(inspector, "entropy") != "…")
    expected = head_statistics(trace, E, 0, 0)
    assert value(inspector, "confidence") == f"{expected['confidence']:.2f}"


@pytest.mark.parametrize("word", ["<b>bold</b>", "😀", "שלום", "x" * 80, "\ud800"], ids=ascii)
def test_any_token_is_plain_text(session, make_trace, inspector, pixels, word: str) -> None:
    session.set_trace(make_trace(["▁" + word, "</s>"], ["<s>", word]))
    session.pin(0)
    pixels(inspector)
    for label in inspector.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText


def test_several_heads_are_shown_as_their_mean_and_range(session, trace, inspector) -> None:
    session.select(kind=E, layer=0, head=0, others=((0, 2), (1, 1)), query=4)
    heads = session.selection.heads
    rows = np.mean([trace.row(*head, 4) for head in heads], axis=0)
    bars = inspector.bars._bars
    assert [bar.weight for bar in bars] == pytest.approx(sorted(rows, reverse=True)[:8])
    assert "mean of 3 heads" in texts(inspector)
    assert "Mean of 3 heads (least – most)" in texts(inspector)
    known = [head_statistics(trace, *head) for head in heads]
    assert value(inspector, "entropy") == spread(by_id("entropy"), known)


def test_the_linked_kinds_are_named_with_their_weights(session, trace, inspector) -> None:
    assert not inspector.links.isVisible()
    session.point(Place("target", 7))
    assert "“müde” across the three kinds" in texts(inspector)
    link = linked(trace, session.selection, Place("target", 7))
    lines = {line.name: line for line in inspector.links._lines}
    assert list(lines) == ["cross", "↳ encoder", "decoder"]
    token, weight = lines["cross"].tokens[0]
    assert (token, weight) == (trace.source_tokens[link.across.argmax()], link.across.max())
    assert trace.source_tokens[link.onward.argmax()] == lines["↳ encoder"].tokens[0][0]
    assert trace.target_tokens[link.own.argmax()] == lines["decoder"].tokens[0][0]
    assert f"{weight:.2f}" in inspector.links.accessibleDescription()


def test_a_source_word_names_who_looks_at_it(session, trace, inspector) -> None:
    session.point(Place("source", 4))
    link = linked(trace, session.selection, Place("source", 4))
    lines = {line.name: line for line in inspector.links._lines}
    assert list(lines) == ["cross", "↳ decoder", "encoder"]
    assert lines["cross"].tokens[0][0] == trace.predicted_tokens[link.across.argmax()]
    assert "“it” across the three kinds" in texts(inspector)


def test_each_line_says_which_heads_it_follows(qtbot, session, inspector) -> None:
    session.select(kind=E, layer=1, head=2)
    session.point(Place("target", 7))
    expected = ("2 heads of the last layer", "Encoder self · layer 2 · head 3", "2 heads of")
    for row, words in enumerate(expected):
        point = row_point(row)
        event = QHelpEvent(QHelpEvent.Type.ToolTip, point, inspector.links.mapToGlobal(point))
        QApplication.sendEvent(inspector.links, event)
        assert words in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_an_encoder_alone_links_within_itself(make_trace, show) -> None:
    full = make_trace()
    session = Session()
    session.set_trace(Trace(source_tokens=full.source_tokens, attention={E: full.attention[E]}))
    inspector = show(made(session), 280, 600)
    session.pin(4)
    assert [line.name for line in inspector.links._lines] == ["encoder"]


@pytest.mark.parametrize(
    ("quantity", "title"),
    [
        (Quantity.NORM, "“it” by norm ‖A·f(x)‖"),
        (Quantity.LAYER_NORM, "“it” by norm of all heads"),
        (Quantity.ROLLOUT, "“it” by rollout after layer 1"),
        (Quantity.ALTI, "“it” by ALTI+ after layer 1"),
    ],
)
def test_the_row_is_of_the_quantity_that_the_map_shows(
    session, inspector, quantity: Quantity, title: str
) -> None:
    session.pin(4, 1)
    session.change_options(quantity=quantity)
    assert title in texts(inspector)
    found = inspector._quantities.current(E)
    row = found.trace.row(E, 0, 0, 4)
    assert inspector.bars._bars[0].weight == pytest.approx(row.max())
    assert inspector.bars._full == pytest.approx(found.measure(E).top)
    assert "This head, on this text · by weight" in texts(inspector)
    assert "“it” across the three kinds · by weight" in texts(inspector)
    session.change_options(quantity=Quantity.WEIGHT)
    assert {"“it” looks at", "This head, on this text"} <= set(texts(inspector))


def test_a_layers_row_is_not_said_to_be_a_mean_of_heads(session, inspector) -> None:
    session.select(kind=E, layer=0, head=0, others=((0, 1),))
    session.pin(4, None)
    assert any("mean of 2 heads" in text for text in texts(inspector))
    session.change_options(quantity=Quantity.ROLLOUT)
    assert not any("mean of 2 heads" in text for text in texts(inspector))
