"""Every format on the picture of a real map: its size, its texts, its colours."""

import re
import zlib

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from transformer_viz.export.picture import (
    SCALES,
    Picture,
    to_image,
    to_pdf,
    to_png,
    to_svg,
)

WORDS = ("Straße", "a <b> & c", "▁it")


def paint(painter: QPainter, rect: QRect) -> None:
    painter.fillRect(rect, QColor("#ffffff"))
    for line, words in enumerate(WORDS, start=1):
        painter.drawText(8, 20 * line, words)
    cells = QImage(2, 1, QImage.Format.Format_RGB32)
    cells.setPixelColor(0, 0, QColor("#fdfdff"))
    cells.setPixelColor(1, 0, QColor("#0a1f5c"))
    painter.drawImage(QRect(0, 80, 80, 20), cells)


PICTURE = Picture("A map", QSize(120, 100), paint)


@pytest.fixture(autouse=True)
def _app(qapp: object) -> None:
    pass


@pytest.mark.parametrize("scale", SCALES)
def test_a_png_has_scale_times_the_pixels(scale: int) -> None:
    image = QImage.fromData(to_png(to_image(PICTURE, scale)), "PNG")
    assert image.size() == PICTURE.size * scale
    assert image.pixelColor(60 * scale, 90 * scale) == QColor("#0a1f5c")
    assert image.text("Title") == "A map"
    inches = image.width() / (image.dotsPerMeterX() * 0.0254)
    assert inches == pytest.approx(to_image(PICTURE).width() / 96, rel=0.01)


def test_a_larger_scale_is_drawn_not_blown_up() -> None:
    small, large = to_image(PICTURE, 1), to_image(PICTURE, 4)
    assert large != small.scaled(large.size())


def test_an_svg_keeps_texts_as_texts() -> None:
    svg = to_svg(PICTURE).decode("utf-8")
    assert re.findall(r">([^<>]+)</text>", svg) == ["Straße", "a &lt;b&gt; &amp; c", "▁it"]
    assert "<title>A map</title>" in svg
    renderer = QSvgRenderer(svg.encode())
    assert renderer.isValid()
    assert renderer.viewBox() == QRect(0, 0, 120, 100)


def test_an_svg_looks_like_the_png() -> None:
    drawn = QImage(PICTURE.size, QImage.Format.Format_RGB32)
    with QPainter(drawn) as painter:
        QSvgRenderer(to_svg(PICTURE)).render(painter)
    wanted = to_image(PICTURE)
    for x, y in ((60, 90), (20, 90), (110, 5)):
        assert drawn.pixelColor(x, y) == wanted.pixelColor(x, y)


def test_a_pdf_embeds_its_fonts_and_maps_glyphs_back_to_letters() -> None:
    pdf = to_pdf(PICTURE)
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf
    mapped = re.findall(rb"/ToUnicode (\d+) 0 R", pdf)
    assert mapped
    tables = re.findall(rb"beginbf(?:char|range)(.*?)endbf", pdf, re.DOTALL)
    letters = "".join(
        chr(int(code, 16)) for table in tables for code in re.findall(rb"<([0-9a-fA-F]{4})>", table)
    )
    assert set("Straße▁it<&") <= set(letters)


def test_a_pdf_has_the_size_of_the_picture() -> None:
    box = re.search(rb"/MediaBox \[([\d. ]+)\]", to_pdf(PICTURE))
    assert box is not None
    numbers = [float(number) for number in box.group(1).split()]
    assert numbers == pytest.approx([0, 0, 120 * 72 / 96, 100 * 72 / 96], abs=1)


def test_a_pdf_keeps_the_colours_of_cells() -> None:
    """Qt stores images as JPEG unless told otherwise, which tints pale cells."""
    pdf = to_pdf(PICTURE)
    assert b"DCTDecode" not in pdf
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    pixels = [zlib.decompressobj().decompress(data) for data in streams if data[:1] == b"x"]
    assert bytes.fromhex("fdfdff0a1f5c") in pixels
