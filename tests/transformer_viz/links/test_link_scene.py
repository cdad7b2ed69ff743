import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtWidgets import QApplication

from tests.transformer_viz.conftest import SOURCE, TARGET, tokens
from transformer_viz.drawing.cubics import distances, sampled
from transformer_viz.links.link_choice import choose_links, merged
from transformer_viz.links.link_scene import LinksPicture, LinksScene
from transformer_viz.state.options import LinksForm

COLUMNS, ROWS, ARCS = LinksForm
VIEW = QSizeF(800, 600)


def make_scene(form: LinksForm, *, series: int = 1, seed: int = 0) -> LinksScene:
    queries, keys = tokens(SOURCE), tokens(SOURCE if form is ARCS else TARGET)
    rng = np.random.default_rng(seed)
    maps = rng.dirichlet(np.full(len(keys), 0.3), (series, len(queries))).astype(np.float32)
    allowed = np.ones(maps.shape[1:], np.bool_)
    parts = [choose_links(m, allowed, share=0.7, series=s) for s, m in enumerate(maps)]
    picture = LinksPicture(
        form=form,
        queries=queries,
        keys=keys,
        links=merged(parts),
        slots=tuple(range(series)),
        names=tuple(f"head {s}" for s in range(series)),
    )
    return LinksScene(picture, QApplication.font(), VIEW)


@pytest.fixture(params=LinksForm)
def scene(request: pytest.FixtureRequest, qapp: QApplication) -> LinksScene:
    return make_scene(request.param, series=2)


def test_cubics_are_sampled_from_end_to_end() -> None:
    control = np.array([[[0, 0], [0, 4], [8, 4], [8, 0]]], float)
    points = sampled(control, 5)[0]
    assert points[[0, 4]].tolist() == [[0, 0], [8, 0]]
    assert points[2].tolist() == [4, 3], "three quarters of the height of its control points"


def test_the_distance_to_a_polyline_is_that_to_its_nearest_part() -> None:
    line = np.array([[[0, 0], [10, 0], [10, 10]], [[0, 5], [0, 5], [0, 5]]], float)
    assert distances(line, np.array([5.0, 3.0])).tolist() == pytest.approx([3, 29**0.5])
    assert distances(line, np.array([12.0, 12.0]))[0] == pytest.approx(8**0.5)


def test_a_label_is_its_token(scene: LinksScene) -> None:
    layout = scene.layout
    for index in range(len(scene.picture.queries)):
        point = layout.label_rect(layout.queries, index).center()
        assert scene.token_at(point) == (index, None)
    if scene.picture.form is not ARCS:
        for index in range(len(scene.picture.keys)):
            point = layout.label_rect(layout.keys, index).center()
            assert scene.token_at(point) == (None, index)


def test_a_point_on_a_link_alone_finds_it(scene: LinksScene) -> None:
    links = scene.picture.links
    middles = sampled(scene.curves, 25)[:, 12]
    everything = np.ones(len(links), np.bool_)
    for index in range(len(links)):
        only = np.arange(len(links)) == index
        point = QPointF(*middles[index])
        assert scene.link_at(point, only) == index
        found = scene.link_at(point, everything)
        assert found is not None
        gap = distances(sampled(scene.curves[[found]], 49), middles[index])
        assert gap[0] <= scene.layout.thickness / 2 + 4
    assert scene.link_at(QPointF(-50, -50), everything) is None
    assert scene.link_at(QPointF(*middles[0]), ~everything) is None


def test_of_links_on_top_of_each_other_the_one_painted_last_is_found(qapp) -> None:
    weights = np.array([[0.5, 0.5], [0.5, 0.5]], np.float32)
    crossing = choose_links(weights, np.ones((2, 2), np.bool_), share=1.0)
    pair = tokens("▁a ▁b")
    picture = LinksPicture(form=COLUMNS, queries=pair, keys=pair, links=crossing)
    scene = LinksScene(picture, qapp.font(), VIEW)
    middle = (scene.curves[:, 0] + scene.curves[:, 3]).mean(axis=0) / 2
    found = scene.link_at(QPointF(*middle), np.ones(4, np.bool_))
    diagonal = np.flatnonzero(crossing.query != crossing.key)
    assert found == diagonal.max()


def test_a_part_of_the_picture_has_every_link_that_crosses_it(scene: LinksScene) -> None:
    for rect in (QRectF(0, 0, 800, 600), QRectF(300, 200, 120, 60), QRectF(-99, -99, 9, 9)):
        points = sampled(scene.curves, 200)
        inside = (points[..., 0] >= rect.left()) & (points[..., 0] <= rect.right())
        inside &= (points[..., 1] >= rect.top()) & (points[..., 1] <= rect.bottom())
        seen = scene.within(rect)
        assert set(np.flatnonzero(inside.any(axis=1))) <= set(seen.tolist())
        assert (np.diff(seen) > 0).all(), "in the order of painting"
    assert len(scene.within(QRectF(-99, -99, 9, 9))) == 0


def test_what_is_marked_is_the_links_of_all_cells(scene: LinksScene) -> None:
    links = scene.picture.links
    marked = scene.marked([(2, None), (None, 5)])
    assert (marked == ((links.query == 2) | (links.key == 5))).all()
    assert not scene.marked([]).any()


def test_a_picture_with_other_links_keeps_the_layout(qapp) -> None:
    first = make_scene(COLUMNS)
    other = make_scene(COLUMNS, seed=1).picture
    assert LinksScene(other, first.font, VIEW, before=first).layout is first.layout
    assert LinksScene(other, first.font, QSizeF(500, 500), before=first).layout != first.layout
    rows = make_scene(ROWS).picture
    assert LinksScene(rows, first.font, VIEW, before=first).layout.form is ROWS
