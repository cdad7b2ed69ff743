"""Where the plane of two dimensions puts its names."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetrics

from transformer_viz.by_hand.plane import free_place


def test_names_of_arrows_to_one_place_do_not_overlap(qapp: object) -> None:
    metrics, rect = QFontMetrics(QFont()), QRectF(0, 0, 400, 400)
    taken: list[QRectF] = []
    for _ in range(5):
        found = free_place(metrics, rect, QPointF(300, 100), "a name", taken)
        assert rect.contains(found)
        assert not any(found.intersects(other) for other in taken)
        taken.append(found)
