import pytest
from PySide6.QtCore import Qt

from transformer_viz.heatmap.map_options import MapOptions
from transformer_viz.state.options import Combine, Scale


@pytest.fixture
def controls(session, show) -> MapOptions:
    return show(MapOptions(session), 680, 40)


def test_every_control_explains_itself(controls: MapOptions) -> None:
    for control in controls.all:
        assert control.toolTip()
        assert control.accessibleName()


def test_every_choice_explains_itself_before_it_is_made(controls: MapOptions) -> None:
    for box in (controls.scale, controls.combine):
        tips = [box.itemData(index, Qt.ItemDataRole.ToolTipRole) for index in range(box.count())]
        assert all(tips)
        assert len(set(tips)) == box.count()


def test_one_line_where_there_is_room_and_more_where_there_is_not(controls: MapOptions) -> None:
    assert len({control.y() for control in controls.all}) == 1
    assert controls.heightForWidth(300) > controls.height()
    controls.resize(300, controls.heightForWidth(300))
    rects = [control.geometry() for control in controls.all]
    assert all(controls.rect().contains(rect) for rect in rects)
    assert not any(a.intersects(b) for a in rects for b in rects if a is not b)


def test_the_controls_follow_the_session(session, controls: MapOptions) -> None:
    session.change_options(
        scale=Scale.GAMMA,
        threshold=0.125,
        hide_specials=True,
        merge_words=True,
        combine=Combine.SIDE_BY_SIDE,
    )
    assert controls.scale.currentText() == "Gamma 0.5"
    assert controls.threshold.value() == 0.125
    assert controls.hide_specials.isChecked()
    assert controls.merge_words.isChecked()
    assert controls.combine.currentText() == "Side by side"
    assert session.options.threshold == 0.125, "following changes nothing"
