"""Titles that have no room for all they say."""

from PySide6.QtWidgets import QLabel

from transformer_viz.drawing.theme import scaled_font
from transformer_viz.widgets.elided_label import ElidedLabel

TITLE = "Encoder self-attention · layer 3 · head 4  (the current one of 12 selected)"


def shown(label: ElidedLabel) -> str:
    return QLabel.text(label)


def test_a_line_without_room_ends_in_an_ellipsis_and_a_tooltip_has_it_whole(show) -> None:
    label = ElidedLabel("title")
    label.setFont(scaled_font(label.font(), 1.15, bold=True))
    label.setText(TITLE)
    show(label, 200, 30)
    assert shown(label).endswith("…")
    assert label.fontMetrics().horizontalAdvance(shown(label)) <= 200
    assert "12 selected" in label.toolTip()
    assert label.text() == label.accessibleName() == TITLE
    label.resize(900, 30)
    assert (shown(label), label.toolTip()) == (TITLE, "")
    label.setText("Layer 1")
    assert shown(label) == "Layer 1"
