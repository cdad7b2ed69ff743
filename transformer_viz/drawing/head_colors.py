"""One colour per head, the same in every view.

The number of a head within its layer chooses its colour, as in the paper's Figures 3 to 5. Only
where heads of several layers are shown together and two of them have the same number, the later one
takes the next colour that none of the others has. Beyond 16 heads the colours repeat.

The colours differ from each other by at least `SEPARATION` in OKLab, for normal vision and under
simulated protanopia and deuteranopia (Machado, Oliveira and Fernandes 2009, severity 1), the first
eight by `SEPARATION_OF_EIGHT`, and from the paper by a contrast of 3 : 1 (WCAG 2.2, 1.4.11). They
were found by exchanging one colour at a time for the one that is farthest from all others.
"""

from collections.abc import Sequence

from PySide6.QtGui import QColor

from core.trace.trace import Head
from transformer_viz.drawing.theme import Theme

SEPARATION = 0.08
SEPARATION_OF_EIGHT = 0.1

_ON_LIGHT = (
    *("#4875b4", "#a21200", "#63a26c", "#87247e", "#247efc", "#b45a00", "#2436bd", "#631248"),
    *("#bd8700", "#3f99ea", "#006348", "#ab87ab", "#3f5ad8", "#750009", "#90517e", "#48875a"),
)
_ON_DARK = (
    *("#5a87fc", "#d86309", "#6cc67e", "#c687bd", "#99fcfc", "#f3f33f", "#905aa2", "#ab515a"),
    *("#cfcf2d", "#63abfc", "#6ce1c6", "#b47e75", "#6ccffc", "#f38700", "#6c5ad8", "#abfcab"),
)
COLORS = len(_ON_LIGHT)


def head_color(theme: Theme, slot: int) -> QColor:
    """The colour with this number, counted from 0 and over again after the last."""
    return QColor((_ON_DARK if theme.dark else _ON_LIGHT)[slot % COLORS])


def color_slots(heads: Sequence[Head]) -> tuple[int, ...]:
    """The colour of each head among those shown with it: all different up to 16 heads."""
    slots: dict[Head, int] = {}
    for head in sorted(heads):
        own = head.head % COLORS
        if own not in slots.values():
            slots[head] = own
    for head in sorted(set(heads) - set(slots)):
        free = set(range(COLORS)) - set(slots.values())
        after = [(head.head + step) % COLORS for step in range(COLORS)]
        slots[head] = next((slot for slot in after if slot in free), after[0])
    return tuple(slots[head] for head in heads)
