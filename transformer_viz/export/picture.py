"""A picture for a file: painted once, the same way, on an image, an SVG or a PDF.

The painters draw in logical pixels of the screen's resolution, in which their fonts are measured.
An image then has `scale` times as many pixels; SVG and PDF have none, and keep texts as texts.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRect, QSize, QSizeF
from PySide6.QtGui import (
    QGuiApplication,
    QImage,
    QImageWriter,
    QPageSize,
    QPainter,
    QPdfWriter,
)
from PySide6.QtSvg import QSvgGenerator

SCALES = (1, 2, 3, 4)
POINTS_PER_INCH = 72
METRES_PER_INCH = 0.0254


@dataclass(frozen=True, slots=True)
class Picture:
    """What can be painted into a file.

    Attributes:
        name: what it shows, for the file's title and its suggested name.
        size: in logical pixels.
        paint: draws it into the rectangle of that size, in the thread of the window.
    """

    name: str
    size: QSize
    paint: Callable[[QPainter, QRect], None]


def to_image(picture: Picture, scale: int = 1) -> QImage:
    """The picture with `scale` pixels to a logical pixel, each way."""
    image = QImage(picture.size * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.setText("Title", picture.name)
    _paint(picture, image)
    return image


def to_png(image: QImage) -> bytes:
    """Encode the image, which takes long for a large one: safe to run in any thread.

    The resolution in the file is such that each scale prints at the same size.
    """
    dots = round(_dots_per_inch() * image.devicePixelRatio() / METRES_PER_INCH)
    image.setDotsPerMeterX(dots)
    image.setDotsPerMeterY(dots)
    return _written(lambda buffer: QImageWriter(buffer, QByteArray(b"PNG")).write(image))


def to_svg(picture: Picture) -> bytes:
    """Return scalable vector graphics, version 1.1: the first that can clip."""

    def write(buffer: QBuffer) -> None:
        generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        generator.setOutputDevice(buffer)
        generator.setResolution(_dots_per_inch())
        generator.setSize(picture.size)
        generator.setViewBox(QRect(0, 0, picture.size.width(), picture.size.height()))
        generator.setTitle(picture.name)
        generator.setDescription("Transformer Viz")
        _paint(picture, generator)

    return _written(write)


def to_pdf(picture: Picture) -> bytes:
    """One page of the picture's size, its fonts embedded."""

    def write(buffer: QBuffer) -> None:
        writer = QPdfWriter(buffer)
        dots = _dots_per_inch()
        writer.setResolution(dots)
        points = QSizeF(picture.size) * POINTS_PER_INCH / dots
        writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, picture.name))
        writer.setPageMargins(QMarginsF())
        writer.setTitle(picture.name)
        writer.setCreator("Transformer Viz")
        _paint(picture, writer)

    return _written(write)


def _paint(picture: Picture, device: QImage | QSvgGenerator | QPdfWriter) -> None:
    with QPainter(device) as painter:
        hints = QPainter.RenderHint
        painter.setRenderHints(hints.Antialiasing | hints.LosslessImageRendering)
        picture.paint(painter, QRect(0, 0, picture.size.width(), picture.size.height()))


def _written(write: Callable[[QBuffer], object]) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    write(buffer)
    buffer.close()
    return bytes(data.data())


def _dots_per_inch() -> int:
    """In which the fonts of the window are measured."""
    return round(QGuiApplication.primaryScreen().logicalDotsPerInch())
