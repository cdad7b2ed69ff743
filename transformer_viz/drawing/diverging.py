"""Signed numbers to colours, symmetric about 0: 0 has the colour of the paper, equal magnitudes are
equally strong, negative is orange and positive blue, which every common colour vision tells apart.

Numbers travel as *codes*, uint8, as weights do (`colormap`): 0 is a masked cell, 1 … 255 are
−limit … +limit and 128 is exactly 0.
"""

import numpy as np

from transformer_viz.drawing.gradient import even_lightness
from transformer_viz.drawing.theme import Theme

ZERO = 128
LEVELS = 127  # steps from 0 to either end


def encode_signed(
    values: np.ndarray, limit: float, allowed: np.ndarray | None = None
) -> np.ndarray:
    """Return codes, uint8 of any shape, of values clipped to ±limit; masked where not allowed.

    A limit of 0 gives 0 everywhere: that is what a picture of nothing but zeros has.
    """
    scale = LEVELS / limit if limit > 0 else 0.0
    codes = np.rint(np.clip(values * scale, -LEVELS, LEVELS)).astype(np.int16) + ZERO
    return (codes if allowed is None else codes * allowed).astype(np.uint8)


def diverging_table(theme: Theme) -> np.ndarray:
    """Return RGBA uint8 [256, 4], indexed by code; masked cells are transparent, for the hatch
    below."""
    if theme.dark:
        negative, positive = ("#e07b12", "#f3983f"), ("#3f8cff", "#7db4ff")
    else:
        negative, positive = ("#c2650f", "#743000"), ("#2468d0", "#10418f")
    colors = np.zeros((256, 4), dtype=np.uint8)
    colors[ZERO:0:-1, :3] = even_lightness((theme.paper, *negative), LEVELS + 1)
    colors[ZERO:, :3] = even_lightness((theme.paper, *positive), LEVELS + 1)
    colors[1:, 3] = 255
    return colors
