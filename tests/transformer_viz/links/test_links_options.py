import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind
from transformer_viz.links.links_options import LinksOptions, shown_form
from transformer_viz.state.options import LinksForm
from transformer_viz.state.session import Session

E, D, C = AttentionKind
COLUMNS, ROWS, ARCS = LinksForm


@pytest.fixture
def options(session: Session, show) -> LinksOptions:
    return show(LinksOptions(session), 800, 40)


def button(options: LinksOptions, form: LinksForm):
    return options.forms.button(list(LinksForm).index(form))


@pytest.mark.parametrize("form", LinksForm)
def test_a_click_chooses_the_form(
    session: Session, options: LinksOptions, qtbot: QtBot, form: LinksForm
) -> None:
    qtbot.mouseClick(button(options, form), Qt.MouseButton.LeftButton)
    assert session.options.links_form is form
    assert [button(options, one).isChecked() for one in LinksForm] == [
        one is form for one in LinksForm
    ]


def test_a_form_chosen_elsewhere_is_shown(session: Session, options: LinksOptions) -> None:
    session.change_options(links_form=ARCS)
    assert button(options, ARCS).isChecked()


def test_the_sliders_work_by_key_and_show_their_numbers(
    session: Session, options: LinksOptions, qtbot: QtBot
) -> None:
    assert options.share_number.text() == "70%"
    qtbot.keyClick(options.share, Qt.Key.Key_Right)
    qtbot.keyClick(options.share, Qt.Key.Key_PageUp)
    assert session.options.links_mass == pytest.approx(0.81)
    assert options.share_number.text() == "81%"
    qtbot.keyClick(options.share, Qt.Key.Key_End)
    assert session.options.links_mass == 1
    qtbot.keyClick(options.distance, Qt.Key.Key_Right)
    qtbot.keyClick(options.distance, Qt.Key.Key_Right)
    assert session.options.links_distance == 2
    assert options.distance_number.text() == "2"
    qtbot.keyClick(options.distance, Qt.Key.Key_End)
    assert session.options.links_distance == 8, "the longest distance in nine tokens"


def test_options_from_elsewhere_are_shown(session: Session, options: LinksOptions) -> None:
    session.change_options(links_mass=0.35, links_distance=3)
    assert options.share.value() == 35
    assert options.distance.value() == 3


def test_cross_attention_has_neither_distance_nor_arcs_and_says_why(
    session: Session, options: LinksOptions
) -> None:
    session.change_options(links_form=ARCS)
    session.select(kind=C)
    assert not options.distance.isEnabled()
    assert "cross-attention" in options.distance.toolTip()
    assert not button(options, ARCS).isEnabled()
    assert "cross-attention" in button(options, ARCS).toolTip()
    assert button(options, ROWS).isChecked()
    assert session.options.links_form is ARCS, "and comes back with self-attention"
    session.select(kind=D)
    assert options.distance.isEnabled()
    assert button(options, ARCS).isChecked()


def test_a_shorter_text_keeps_the_distance(
    session: Session, options: LinksOptions, make_trace
) -> None:
    session.change_options(links_distance=8)
    session.set_trace(make_trace("▁a ▁b </s>"))
    assert session.options.links_distance == 8
    assert options.distance.value() == 8


def test_arcs_of_two_texts_become_rows() -> None:
    assert shown_form(ARCS, C) is ROWS
    assert shown_form(ARCS, E) is ARCS
    assert shown_form(COLUMNS, C) is COLUMNS


def test_controls_have_names(options: LinksOptions) -> None:
    for control in (options.share, options.distance, *options.forms.buttons()):
        assert control.accessibleName()
        assert control.toolTip()
