import dataclasses

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel
from pytestqt.qtbot import QtBot

from transformer_viz.drawing.theme import DARK, LIGHT, Theme, grown, scaled_font
from transformer_viz.state.options import ThemeChoice
from transformer_viz.widgets.style import ThemeManager, palette, set_role

both = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(color: str) -> float:
    """WCAG 2.1, relative luminance."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@both
@pytest.mark.parametrize("ground", ["paper", "chrome", "raised"])
@pytest.mark.parametrize(
    ("token", "least"),
    [("ink", 7), ("soft", 4.5), ("accent", 4.5), ("error", 4.5), ("warning", 4.5), ("faint", 3)],
)
def test_text_is_readable_on_every_ground(
    theme: Theme, ground: str, token: str, least: float
) -> None:
    assert contrast(getattr(theme, token), getattr(theme, ground)) >= least


@both
def test_text_is_readable_on_the_accent_and_on_chips(theme: Theme) -> None:
    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.accent, theme.accent_soft) >= 4
    assert contrast(theme.soft, theme.chip) >= 4.5


def test_a_theme_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        LIGHT.accent = "#000000"  # type: ignore[misc]


@both
def test_disabled_text_looks_different(theme: Theme) -> None:
    made = palette(theme)
    text = QPalette.ColorRole.ButtonText
    active = made.color(QPalette.ColorGroup.Active, text)
    assert made.color(QPalette.ColorGroup.Disabled, text) != active


def test_the_manager_dresses_the_application_and_tells_the_views(qapp: QApplication) -> None:
    before = qapp.palette(), qapp.styleSheet()
    manager = ThemeManager(qapp, ThemeChoice.LIGHT)
    told: list[Theme] = []
    manager.themeChanged.connect(told.append)
    try:
        manager.set_choice("dark")
        assert (manager.theme, manager.choice, told) == (DARK, ThemeChoice.DARK, [DARK])
        assert qapp.palette().color(QPalette.ColorRole.Base).name() == DARK.paper
        manager.set_choice(ThemeChoice.DARK)
        assert told == [DARK], "the same theme is no news"
        manager.set_choice(ThemeChoice.SYSTEM)
        assert manager.theme is LIGHT, "a system that says nothing is light"
    finally:
        manager.setParent(None)
        qapp.setPalette(before[0])
        qapp.setStyleSheet(before[1])


@both
def test_an_empty_check_box_has_an_edge(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    before = qapp.palette(), qapp.styleSheet()
    manager = ThemeManager(qapp, theme.name)
    try:
        box = QCheckBox()
        qtbot.addWidget(box)
        image = box.grab().toImage()
        row = [image.pixelColor(x, image.height() // 2).name() for x in range(image.width())]
        assert max(contrast(color, theme.paper) for color in row) >= 3
    finally:
        manager.setParent(None)
        qapp.setPalette(before[0])
        qapp.setStyleSheet(before[1])


def test_an_unknown_choice_is_an_error(qapp: QApplication) -> None:
    with pytest.raises(ValueError, match="sepia"):
        ThemeChoice("sepia")


def test_fonts_scale_in_points_and_in_pixels(qapp: QApplication) -> None:
    font = qapp.font()
    font.setPointSizeF(10)
    assert scaled_font(font, 1.5, bold=True).pointSizeF() == 15
    assert scaled_font(font, 1.5, bold=True).bold()
    font.setPixelSize(20)
    assert scaled_font(font, 0.5).pixelSize() == 10


def test_a_role_can_change_while_shown(qtbot) -> None:
    label = QLabel("x")
    qtbot.addWidget(label)
    set_role(label, "soft")
    set_role(label, "error")
    assert label.property("role") == "error"


def test_room_grows_with_the_text_and_never_shrinks(qapp: QApplication) -> None:
    small, large = qapp.font(), qapp.font()
    small.setPointSize(6)
    large.setPointSize(27)
    assert grown(100, small) == 100
    assert grown(100, large) > 150
    assert grown(50, large) == pytest.approx(grown(100, large) / 2)
