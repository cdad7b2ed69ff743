"""Which quantity the map shows: the raw weight, or what was moved."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget

from transformer_viz.drawing.theme import GRID
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session
from transformer_viz.widgets.text_size import set_height
from transformer_viz.words.quantity_wording import EXPLANATIONS, NAMES


class QuantityChoice(QComboBox):
    """Shows and changes the session's option."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        for quantity, name in NAMES.items():
            self.addItem(name, quantity.value)
            tip = EXPLANATIONS[quantity]
            self.setItemData(self.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        set_height(self, 7 * GRID)
        self.setAccessibleName("Quantity shown")
        self.view().setAccessibleName("Quantity shown")
        self.activated.connect(
            lambda _: session.change_options(quantity=Quantity(self.currentData()))
        )
        session.optionsChanged.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        quantity = self._session.options.quantity
        self.setCurrentIndex(self.findData(quantity.value))
        self.setToolTip(EXPLANATIONS[quantity])
