"""What is painted, read from pixels and from the words in a vector file."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QRect, QSizeF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from tests.transformer_viz.conftest import tokens
from transformer_viz.drawing.cubics import sampled
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.links.draw_links import draw_links
from transformer_viz.links.link_choice import choose_links, merged
from transformer_viz.links.link_scene import LinksPicture, LinksScene
from transformer_viz.state.options import LinksForm
from transformer_viz.state.selection import Cell

COLUMNS, ROWS, ARCS = LinksForm
WORDS = "▁one ▁two ▁three ▁four"

MakeScene = Callable[..., LinksScene]


@pytest.fixture
def make_scene(qapp: QApplication) -> MakeScene:
    def make(*maps: np.ndarray, form: LinksForm = COLUMNS, mean: bool = False) -> LinksScene:
        allowed = np.ones(maps[0].shape, np.bool_)
        parts = [
            choose_links(weights.astype(np.float32), allowed, share=1.0, series=series)
            for series, weights in enumerate(maps)
        ]
        picture = LinksPicture(
            form=form,
            queries=tokens(WORDS),
            keys=tokens(WORDS),
            links=merged(parts),
            slots=() if mean else tuple(range(len(maps))),
            headings=("the query", "the key"),
        )
        return LinksScene(picture, qapp.font(), QSizeF(600, 400))

    return make


def one(query: int, key: int, weight: float = 1.0) -> np.ndarray:
    weights = np.zeros((4, 4))
    weights[query, key] = weight
    return weights


def painted(scene: LinksScene, theme: Theme = LIGHT, cells: tuple[Cell, ...] = ()) -> np.ndarray:
    """RGBA uint8 [height, width, 4]."""
    image = QImage(scene.layout.size.toSize(), QImage.Format.Format_RGB32)
    image.fill(theme.color("paper"))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_links(painter, scene, theme, cells)
    return to_array(image)


def along(scene: LinksScene, index: int, picture: np.ndarray) -> np.ndarray:
    """The pixels under the middle of a link, [n, 4]."""
    points = sampled(scene.curves[[index]], 41)[0, 8:-8].round().astype(int)
    return picture[points[:, 1], points[:, 0]]


def rgb(color: QColor) -> list[int]:
    return [color.red(), color.green(), color.blue()]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("form", LinksForm)
def test_a_link_of_weight_one_has_the_full_colour_of_its_head(
    make_scene: MakeScene, form: LinksForm, theme: Theme
) -> None:
    scene = make_scene(one(0, 1), one(2, 3), form=form)
    picture = painted(scene, theme)
    for index, series in enumerate(scene.picture.links.series.tolist()):
        expected = rgb(head_color(theme, series))
        assert (along(scene, index, picture)[:, :3] == expected).all()


def test_the_mean_of_heads_has_the_accent(make_scene: MakeScene) -> None:
    scene = make_scene(one(0, 3), mean=True)
    assert (along(scene, 0, painted(scene))[:, :3] == rgb(LIGHT.color("accent"))).all()


def test_width_follows_weight(make_scene: MakeScene) -> None:
    inked = []
    for weight in (0.25, 0.5, 1.0):
        scene = make_scene(one(1, 1, weight))
        column = painted(scene)[:, round(scene.curves[0, :, 0].mean()), :3].astype(int)
        color = column[column.sum(axis=1).argmin()]
        depth = (255 - column).sum(axis=1) / (255 - color).sum()
        inked.append(depth.sum() / scene.layout.thickness)
    assert inked == pytest.approx([0.25, 0.5, 1.0], abs=0.06)


def test_the_heavier_link_lies_on_top(make_scene: MakeScene) -> None:
    for heavy in (0, 1):
        maps = [one(0, 3, 0.5), one(3, 0, 0.5)]
        maps[heavy] *= 2
        scene = make_scene(*maps)
        (start, _, _, end), (other_start, _, _, other_end) = scene.curves
        part = (other_start - start)[1] / ((end - start) - (other_end - other_start))[1]
        x, y = (start + part * (end - start)).round().astype(int)
        assert painted(scene)[y, x, :3].tolist() == rgb(head_color(LIGHT, heavy))


@pytest.mark.parametrize("form", LinksForm)
def test_beside_a_marked_token_the_others_fade(make_scene: MakeScene, form: LinksForm) -> None:
    scene = make_scene(one(0, 1) + one(2, 3), form=form)
    queries = scene.picture.links.query.tolist()
    plain, marked = painted(scene), painted(scene, cells=((2, None),))
    kept, faded = queries.index(2), queries.index(0)
    assert (along(scene, kept, plain) == along(scene, kept, marked)).all()
    paper = np.array(rgb(LIGHT.color("paper")))
    contrast = [
        np.abs(along(scene, faded, p)[:, :3] - paper.astype(int)).max() for p in (plain, marked)
    ]
    assert 0 < contrast[1] < 0.3 * contrast[0]


def words(scene: LinksScene, cells: tuple[Cell, ...] = ()) -> list[str]:
    """The texts in the picture as SVG, in the order in which they are written."""
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setViewBox(QRect(0, 0, 600, 400))
    with QPainter(generator) as painter:
        draw_links(painter, scene, LIGHT, cells)
    svg = bytes(buffer.data().data()).decode()
    return [part.split("<")[0].strip() for part in svg.split(">") if part.split("<")[0].strip()]


@pytest.mark.parametrize("form", LinksForm)
def test_a_vector_file_has_the_tokens_and_headings_as_text(
    make_scene: MakeScene, form: LinksForm
) -> None:
    written = words(make_scene(one(0, 3), form=form))
    for word in ("one", "two", "three", "four"):
        assert written.count(word) == (1 if form is ARCS else 2)
    assert {"the query", "the key", "0.1", "0.5", "1"} <= set(written)


@pytest.mark.parametrize("form", LinksForm)
def test_the_links_of_a_marked_token_have_their_weights(
    make_scene: MakeScene, form: LinksForm
) -> None:
    weights = one(1, 0, 0.62) + one(1, 3, 0.27) + one(2, 3, 0.44)
    scene = make_scene(weights, form=form)
    assert not {"0.62", "0.27", "0.44"} & set(words(scene))
    assert {"0.62", "0.27"} <= set(words(scene, ((1, None),)))
    assert "0.44" not in words(scene, ((1, None),))
    of_key = words(scene, ((None, 3),))
    assert {"0.27", "0.44"} <= set(of_key)
    assert "0.62" not in of_key
    assert "0.62" in words(scene, ((1, 0),))
    assert "0.27" not in words(scene, ((1, 0),))


def test_at_one_end_the_heaviest_numbers_are_shown(make_scene: MakeScene) -> None:
    maps = [one(0, 1, weight) for weight in (0.11, 0.42, 0.33, 0.24)]
    written = words(make_scene(*maps), ((0, None),))
    shown = [word for word in written if word in {"0.11", "0.42", "0.33", "0.24"}]
    assert shown == ["0.42", "0.33", "0.24"], "in the order of the heads"
    assert "+1" in written
    assert "+1" not in words(make_scene(*maps[1:]), ((0, None),))


def test_markup_in_tokens_stays_text(make_scene: MakeScene, qapp: QApplication) -> None:
    pair = tokens(["▁<b>bold", "▁&amp;"])
    picture = LinksPicture(form=COLUMNS, queries=pair, keys=pair, slots=(0,))
    scene = LinksScene(picture, qapp.font(), QSizeF(600, 400))
    assert words(scene).count("&lt;b&gt;bold") == 2
