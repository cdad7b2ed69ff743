"""The commands that choose what the heatmap shows."""

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QActionGroup

from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import Actions
from transformer_viz.words.quantity_wording import EXPLANATIONS, NAMES

_MNEMONICS = {
    Quantity.WEIGHT: "W",
    Quantity.NORM: "h",
    Quantity.LAYER_NORM: "l",
    Quantity.ROLLOUT: "R",
    Quantity.ALTI: "A",
}


def add_quantities(actions: Actions, session: Session, show_heatmap: Callable[[], object]) -> None:
    """One command for each quantity; it turns to the heatmap."""
    menu = actions.menu("&View", "Heatmap sho&ws")
    menu.setToolTipsVisible(True)
    group = QActionGroup(actions)

    def show(quantity: Quantity) -> None:
        session.change_options(quantity=quantity)
        show_heatmap()

    for quantity, name in NAMES.items():
        mark = _MNEMONICS[quantity]
        text, run = name.replace(mark, f"&{mark}", 1), partial(show, quantity)
        action = actions.add(f"quantity_{quantity}", menu, text, run, group=group)
        action.setToolTip(EXPLANATIONS[quantity])

    def follow() -> None:
        actions[f"quantity_{session.options.quantity}"].setChecked(True)

    session.optionsChanged.connect(follow)
    follow()
