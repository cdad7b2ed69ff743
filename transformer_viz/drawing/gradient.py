"""Colours between colours, in equal steps of lightness as it is seen.

In OKLab: B. Ottosson, "A perceptual color space for image processing", 2020.
"""

from functools import lru_cache

import numpy as np


@lru_cache
def even_lightness(anchors: tuple[str, ...], steps: int) -> np.ndarray:
    """Return sRGB uint8 [steps, 3] through the anchors, ``#rrggbb`` of rising or falling
    lightness."""
    rgb = np.array([[int(a[i : i + 2], 16) for i in (1, 3, 5)] for a in anchors]) / 255
    lab = np.cbrt(_to_linear(rgb) @ _RGB_TO_LMS.T) @ _LMS_TO_LAB.T  # [anchors, 3]
    light = np.linspace(lab[0, 0], lab[-1, 0], steps)
    order = np.argsort(lab[:, 0])
    path = np.stack([np.interp(light, lab[order, 0], lab[order, i]) for i in range(3)], axis=1)
    linear = (path @ np.linalg.inv(_LMS_TO_LAB).T) ** 3 @ np.linalg.inv(_RGB_TO_LMS).T
    return np.rint(255 * _to_srgb(linear.clip(0, 1))).astype(np.uint8)  # [steps, 3]


def _to_linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _to_srgb(linear: np.ndarray) -> np.ndarray:
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


_RGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LMS_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
