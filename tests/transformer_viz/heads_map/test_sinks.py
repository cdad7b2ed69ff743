"""Sinks are marked wherever a map, links or far links show them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.text.tokens import TokenKind
from core.trace.sinks import sinks
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.stage import weights_alone
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.engine.quantities import Found
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.heatmap.map_notes import map_notes
from transformer_viz.links.link_pictures import caption, pictures
from transformer_viz.reach.far_link_list import FarLinkList
from transformer_viz.state.options import LinksForm, Quantity, ViewOptions
from transformer_viz.state.session import Phase, Session, Status
from transformer_viz.widgets.head_pictures import HeadPicture, head_picture, map_axes

E = AttentionKind.ENCODER_SELF
RESTING, LOOKING = Head(E, 0, 0), Head(E, 0, 1)


@pytest.fixture
def trace(make_trace: Callable[..., Trace]) -> Trace:
    """One head of the encoder rests on the end token, the other looks one back."""
    n = len(make_trace().source_tokens)
    rests = np.full((n, n), 0.2 / (n - 1))
    rests[:, -1] = 0.8
    back = np.eye(n, k=-1) * 0.9 + 0.1 / n
    back[0] = 1 / n
    maps = np.stack([rests, back]) / np.stack([rests, back]).sum(axis=-1, keepdims=True)
    return make_trace(maps={E: maps[None]})


def picture(trace: Trace, head: Head, **options: bool) -> HeadPicture:
    chosen = ViewOptions(**options)  # type: ignore[arg-type]
    return head_picture(trace, [head], map_axes(trace, E, chosen), chosen)


def test_a_map_knows_its_sinks_by_tokens_and_by_words(trace: Trace) -> None:
    last = len(trace.source_tokens) - 1
    assert trace.source_tokens[last].kind is TokenKind.SPECIAL
    (sink,) = sinks(trace, *RESTING)
    assert (sink.key, sink.share) == (last, pytest.approx(0.8))
    assert picture(trace, RESTING).sinks == (sink,)
    assert picture(trace, LOOKING).sinks == ()
    words = picture(trace, RESTING, merge_words=True)
    (merged,) = words.sinks
    assert words.axes.columns.tokens[merged.key].kind is TokenKind.SPECIAL
    assert picture(trace, RESTING, hide_specials=True).sinks == ()


def test_the_note_names_it_with_its_share(trace: Trace) -> None:
    found = Found(Quantity.WEIGHT, trace, trace)
    said = map_notes(found, [picture(trace, RESTING)], ViewOptions(), 1, 1)
    assert "Sink (amber bar): </s>, 80% of all weight." in said
    other = map_notes(found, [picture(trace, LOOKING)], ViewOptions(), 1, 1)
    assert not any("Sink" in one for one in other)


@pytest.fixture
def heatmap(session: Session, qtbot: QtBot) -> Heatmap:
    shown = Heatmap(session, weights_alone(session))
    qtbot.addWidget(shown)
    shown.resize(700, 500)
    shown.show()
    return shown


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_bar_stands_over_its_column(session: Session, heatmap: Heatmap, theme: Theme) -> None:
    session.set_status(Status(Phase.READY))
    heatmap.apply_theme(theme)
    session.select(kind=E, layer=0, head=0)
    color = theme.color("warning").name()
    assert color in colors(heatmap)
    session.select(kind=E, layer=0, head=1)
    assert color not in colors(heatmap)


def colors(heatmap: Heatmap) -> set[str]:
    image = heatmap.canvas.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


def test_links_to_a_sink_are_known_and_named_in_the_caption(trace: Trace) -> None:
    options = ViewOptions(links_form=LinksForm.COLUMNS)
    axes, found = map_axes(trace, E, options), Found(Quantity.WEIGHT, trace, trace)
    *_, chosen = pictures(found, ((RESTING,), (LOOKING,)), axes, LinksForm.COLUMNS, options)
    last = len(trace.source_tokens) - 1
    assert chosen.picture.sinks == {(0, last)}
    assert "Dashed: to a sink" in caption(E, options, chosen)
    *_, plain = pictures(found, ((LOOKING,),), axes, LinksForm.COLUMNS, options)
    assert "Dashed" not in caption(E, options, plain)


def test_a_far_link_to_a_sink_says_so(trace: Trace, qtbot: QtBot) -> None:
    from core.trace.reach import FarLink

    rows = FarLinkList()
    qtbot.addWidget(rows)
    links = [FarLink(RESTING, 0, 5, 0.8), FarLink(LOOKING, 0, 5, 0.3)]
    rows.show_links(trace.source_tokens, links, 3, None, [True, False])
    assert ", a sink of this head: weight 0.8000" in rows.describe(0)
    assert "sink" not in rows.describe(1)
