"""Scaling and mask of the whole model as commands: one is chosen of each."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from core.switches import Scaling
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import Actions

_SCALINGS = {
    Scaling.ON: "&Scaling by √d_k",
    Scaling.OFF: "&Without scaling",
    Scaling.TWICE: "Scaling &twice, by d_k",
}
_MASKS = {True: "Decoder &mask", False: "Without &decoder mask"}


def add_switches(actions: Actions, menu: QMenu, session: Session) -> None:
    """Add the commands; those chosen are checked, and without a model's trace none can be."""

    def switch(**changes: object) -> None:
        session.set_switches(replace(session.switches, **changes))  # type: ignore[arg-type]

    scalings, masks = QActionGroup(menu), QActionGroup(menu)
    add = partial(_add, actions, menu)
    by_scaling = {
        scaling: add(f"scaling_{scaling.value}", text, partial(switch, scaling=scaling), scalings)
        for scaling, text in _SCALINGS.items()
    }
    menu.addSeparator()
    by_mask = {
        mask: add(f"mask_{'on' if mask else 'off'}", text, partial(switch, mask=mask), masks)
        for mask, text in _MASKS.items()
    }

    def follow() -> None:
        by_scaling[session.switches.scaling].setChecked(True)
        by_mask[session.switches.mask].setChecked(True)
        ready = session.trace is not None and session.trace.has_ids
        for action in (*by_scaling.values(), *by_mask.values()):
            action.setEnabled(ready)

    for changed in (session.switchesChanged, session.traceChanged):
        changed.connect(follow)
    follow()


def _add(
    actions: Actions,
    menu: QMenu,
    name: str,
    text: str,
    run: Callable[[], object],
    group: QActionGroup,
) -> QAction:
    return actions.add(name, menu, text, run, group=group)
