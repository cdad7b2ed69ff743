import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind, Head
from transformer_viz.drawing.head_colors import head_color
from transformer_viz.drawing.images import to_array
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.links.head_legend import HeadLegend
from transformer_viz.state.options import Combine
from transformer_viz.state.session import Session

E, D, C = AttentionKind


@pytest.fixture
def legend(session: Session, show) -> HeadLegend:
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    return show(HeadLegend(session), 700, 40)


def swatches(legend: HeadLegend) -> list[QToolButton]:
    return [swatch for swatch in legend.swatches if swatch.isVisible()]


def click(qtbot: QtBot, legend: HeadLegend, number: int) -> None:
    qtbot.mouseClick(legend.swatches[number], Qt.MouseButton.LeftButton)


def heads(session: Session) -> list[tuple[int, int]]:
    return [(head.layer, head.head) for head in session.selection.heads]


def middle(swatch: QToolButton) -> list[int]:
    """The colour in the middle of its icon, RGBA."""
    icon = to_array(swatch.icon().pixmap(12, 12).toImage())
    return icon[icon.shape[0] // 2, icon.shape[1] // 2].tolist()


def rgba(color: QColor) -> list[int]:
    return list(color.getRgb())


def test_the_layers_heads_are_listed_and_the_selected_ones_filled(legend: HeadLegend) -> None:
    assert [swatch.text() for swatch in swatches(legend)] == ["1", "2", "3"]
    assert [swatch.isChecked() for swatch in swatches(legend)] == [True, False, False]
    assert middle(legend.swatches[0]) == rgba(head_color(LIGHT, 0))
    assert middle(legend.swatches[1])[3] == 0, "a frame alone"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_swatches_have_the_colours_of_the_links(
    session: Session, legend: HeadLegend, theme: Theme
) -> None:
    legend.apply_theme(theme)
    session.select(layer=1, head=0, others=((1, 1), (1, 2)))
    for slot, swatch in enumerate(swatches(legend)):
        assert middle(swatch) == rgba(head_color(theme, slot))


def test_a_click_adds_a_head_and_another_takes_it_out(
    session: Session, legend: HeadLegend, qtbot: QtBot
) -> None:
    click(qtbot, legend, 2)
    assert heads(session) == [(0, 0), (0, 2)]
    click(qtbot, legend, 0)
    assert heads(session) == [(0, 2)]
    assert [swatch.isChecked() for swatch in swatches(legend)] == [False, False, True]


def test_the_last_head_stays(session: Session, legend: HeadLegend, qtbot: QtBot) -> None:
    click(qtbot, legend, 0)
    assert heads(session) == [(0, 0)]
    assert legend.swatches[0].isChecked()


def test_all_heads_are_one_click_away(session: Session, legend: HeadLegend, qtbot: QtBot) -> None:
    session.change_options(combine=Combine.MEAN)
    session.select(kind=C, layer=2, head=1)
    qtbot.mouseClick(legend.all, Qt.MouseButton.LeftButton)
    assert heads(session) == [(2, 0), (2, 1)]
    assert session.selection.primary == Head(C, 2, 1)
    assert session.options.combine is Combine.SIDE_BY_SIDE


def test_the_mean_is_a_choice_where_there_are_several(
    session: Session, legend: HeadLegend, qtbot: QtBot
) -> None:
    assert not legend.mean.isEnabled()
    click(qtbot, legend, 1)
    qtbot.mouseClick(legend.mean, Qt.MouseButton.LeftButton)
    assert session.options.combine is Combine.MEAN
    assert middle(legend.swatches[0]) == rgba(LIGHT.color("accent"))
    qtbot.mouseClick(legend.mean, Qt.MouseButton.LeftButton)
    assert session.options.combine is Combine.SIDE_BY_SIDE


def test_heads_of_other_layers_are_listed_with_their_layer(
    session: Session, legend: HeadLegend
) -> None:
    session.select(layer=0, head=0, others=((1, 0),))
    assert [swatch.text() for swatch in swatches(legend)] == ["1.1", "1.2", "1.3", "2.1"]
    colors = [middle(swatches(legend)[number]) for number in (0, 3)]
    assert colors == [rgba(head_color(LIGHT, 0)), rgba(head_color(LIGHT, 1))]


def test_left_and_right_go_from_swatch_to_swatch_and_space_chooses(
    session: Session, legend: HeadLegend, qtbot: QtBot
) -> None:
    legend.swatches[0].setFocus()
    qtbot.keyClick(legend.swatches[0], Qt.Key.Key_Right)
    assert legend.swatches[1].hasFocus()
    qtbot.keyClick(legend.swatches[1], Qt.Key.Key_Space)
    assert heads(session) == [(0, 0), (0, 1)]
    qtbot.keyClick(legend.swatches[1], Qt.Key.Key_Left)
    qtbot.keyClick(legend.swatches[0], Qt.Key.Key_Left)
    assert legend.swatches[0].hasFocus()


def test_swatches_have_names(legend: HeadLegend) -> None:
    names = [swatch.accessibleName() for swatch in swatches(legend)]
    assert names[1].endswith("layer 1 · head 2")
    assert len(np.unique(names)) == 3
