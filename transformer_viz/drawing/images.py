"""numpy pixels to Qt images."""

import numpy as np
from PySide6.QtGui import QImage


def to_image(pixels: np.ndarray) -> QImage:
    """Convert RGBA uint8 [height, width, 4] to a QImage that owns its pixels."""
    height, width, channels = pixels.shape
    if channels != 4 or pixels.dtype != np.uint8:
        raise ValueError(f"expected RGBA uint8, got {pixels.dtype} {pixels.shape}")
    pixels = np.ascontiguousarray(pixels)
    view = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBA8888)
    return view.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def to_array(image: QImage) -> np.ndarray:
    """The pixels of a QImage, RGBA uint8 [height, width, 4]."""
    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    return rows[:, : 4 * image.width()].reshape(image.height(), image.width(), 4).copy()
