"""Of the links of what is marked: the ends that are out of sight."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from tests.transformer_viz.conftest import tokens
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.links.link_choice import choose_links, merged
from transformer_viz.links.link_edges import draw_far_ends, far_ends
from transformer_viz.links.link_scene import LinksPicture, LinksScene
from transformer_viz.state.options import LinksForm

COUNT = 60
FORMS = [LinksForm.COLUMNS, LinksForm.ROWS]


@pytest.fixture
def make_scene(qapp: QApplication):
    def make(form: LinksForm) -> LinksScene:
        """Query 30 looks at keys 2, 4, 31 and 59, and query 1 at key 31."""
        weights = np.zeros((COUNT, COUNT), np.float32)
        weights[30, [2, 4, 31, 59]] = 0.1, 0.4, 0.3, 0.2
        weights[1, 31] = 0.9
        links = choose_links(weights, np.ones(weights.shape, np.bool_), share=1.0)
        words = tokens(["▁word"] * COUNT)
        picture = LinksPicture(form=form, queries=words, keys=words, links=merged([links]))
        return LinksScene(picture, qapp.font(), QSizeF(500, 300))

    return make


def middle_part(scene: LinksScene) -> QRectF:
    """The view as large as it is, with query 30 in its middle."""
    center = scene.layout.label_rect(scene.layout.queries, 30).center()
    if scene.layout.vertical:
        return QRectF(0, center.y() - 150, scene.layout.size.width(), 300)
    return QRectF(center.x() - 250, 0, 500, scene.layout.size.height())


@pytest.mark.parametrize("form", FORMS)
def test_keys_out_of_sight_are_found_on_their_side_heaviest_first(make_scene, form) -> None:
    scene = make_scene(form)
    keys = scene.layout.keys
    before, after = far_ends(scene, middle_part(scene), keys, [(30, None)], 1)
    assert list(before.items()) == [(4, pytest.approx(0.4)), (2, pytest.approx(0.1))]
    assert list(after.items()) == [(59, pytest.approx(0.2))]
    whole = QRectF(0, 0, scene.layout.size.width(), scene.layout.size.height())
    assert far_ends(scene, whole, keys, [(30, None)], 1) == ({}, {})
    assert far_ends(scene, middle_part(scene), keys, [], 1) == ({}, {})


@pytest.mark.parametrize("form", FORMS)
def test_queries_that_look_at_a_marked_key_are_found_too(make_scene, form) -> None:
    scene = make_scene(form)
    part, queries, keys = middle_part(scene), scene.layout.queries, scene.layout.keys
    before, after = far_ends(scene, part, queries, [(None, 31)], 0)
    assert (list(before), list(after)) == ([1], [])
    assert far_ends(scene, part, keys, [(None, 31)], 1) == ({}, {})


@pytest.mark.parametrize("form", LinksForm)
def test_they_are_named_in_the_view(make_scene, form) -> None:
    scene = make_scene(form)
    part = middle_part(scene)
    image = QImage(part.size().toSize(), QImage.Format.Format_RGB32)

    def inked(cells: list) -> bool:
        image.fill(LIGHT.color("paper"))
        with QPainter(image) as painter:
            painter.translate(-part.topLeft())
            draw_far_ends(painter, scene, LIGHT, part, cells)
        return bool((to_array(image)[..., :3] < 100).any())

    assert inked([(30, None)])
    assert not inked([(1, None)]), "its only key is in sight"
