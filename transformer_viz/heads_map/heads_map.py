"""All heads at a glance: one thumbnail each, in an order of the user's choice."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from core.statistics.registry import OF_MAPS, current_id
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.engine.quantities import Quantities
from transformer_viz.heads_map.atlas_view import AtlasView
from transformer_viz.heads_map.measured_heads import MeasuredHeads
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.spotlight import Spotlight
from transformer_viz.widgets.style import set_role
from transformer_viz.words.measures import explained, ranking
from transformer_viz.words.wording import plain_tooltip

BY_LAYER = "index"


class HeadsMap(Panel):
    def __init__(
        self,
        session: Session,
        quantities: Quantities,
        measured: MeasuredHeads,
        spotlight: Spotlight,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.order = QComboBox(self)
        self.picture = AtlasView(session, quantities, measured, spotlight, self)
        for part in (self.order, self.order.view()):
            part.setAccessibleName("Order of the heads")
        self.order.addItem("layer and head", BY_LAYER)
        for one in OF_MAPS:
            self.order.addItem(ranking(one), one.id)
            explanation = plain_tooltip(explained(one.explanation))
            self.order.setItemData(self.order.count() - 1, explanation, Qt.ItemDataRole.ToolTipRole)
        self.order.setSizeAdjustPolicy(
            self.order.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        caption = QLabel("Order")
        set_role(caption, "soft")
        set_role(self, "paper")
        self.setMinimumWidth(50 * GRID)

        header = QHBoxLayout()
        header.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 0)
        header.setSpacing(2 * GRID)
        header.addWidget(caption)
        header.addWidget(self.order, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(header)
        column.addWidget(self.picture, 1)

        self.order.activated.connect(self._choose_order)
        session.optionsChanged.connect(self._show_order)
        self._show_order()

    def focus_part(self) -> QWidget:
        return self.picture

    def apply_theme(self, theme: Theme) -> None:
        self.picture.apply_theme(theme)

    def set_color_map(self, color_map: ColorMap | str) -> None:
        self.picture.set_color_map(color_map)

    def _choose_order(self, index: int) -> None:
        self._session.change_options(order=self.order.itemData(index))

    def _show_order(self) -> None:
        self.order.setCurrentIndex(
            max(0, self.order.findData(current_id(self._session.options.order)))
        )
