"""The GIF, read back by Qt's own decoder."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QColor, QGuiApplication, QImage, QImageReader

from core.errors import UserError
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.export.animation import MOST_STEPS, SIZE, Decoding, paint_step, to_gif
from transformer_viz.state.options import ColorMap, ViewOptions
from transformer_viz.widgets.head_pictures import head_picture, map_axes


def decoding(trace: Trace, kind: AttentionKind) -> Decoding:
    options = ViewOptions()
    picture = head_picture(trace, [Head(kind, 1, 0)], map_axes(trace, kind, options), options)
    return Decoding("The head", kind, picture.matrix)


def style(theme: Theme = LIGHT) -> Style:
    return Style(theme, lookup_table(ColorMap.PAPER, theme), QGuiApplication.font())


def frames(gif: bytes) -> list[tuple[QImage, int]]:
    """Every frame and how long it stays, in milliseconds."""
    data = QByteArray(gif)
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"gif"))
    assert reader.loopCount() == -1, "it goes on for ever"
    return [(reader.read(), reader.nextImageDelay()) for _ in range(reader.imageCount())]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_one_frame_for_each_step_in_true_colours(qapp: object, trace: Trace, theme: Theme) -> None:
    told: list[tuple[int, int]] = []
    made = decoding(trace, AttentionKind.DECODER_SELF)
    gif = to_gif(made, style(theme), 1, lambda done, total: told.append((done, total)))
    shown = frames(gif)
    steps = len(trace.target_tokens)
    assert len(shown) == steps
    assert told == [(step, steps) for step in range(steps)]
    assert shown[-1][1] > shown[0][1], "the end stays longer"
    for image, _delay in shown:
        assert image.width() == SIZE.width()
        assert image.pixelColor(1, 1) == QColor(theme.paper)
    painted = paint_step(made, 3, style(theme), 1)
    wrong = sum(
        shown[3][0].pixel(x, y) != painted.pixel(x, y)
        for x in range(0, painted.width(), 5)
        for y in range(0, painted.height(), 5)
    )
    assert wrong < 0.01 * painted.width() * painted.height() / 25


def test_the_map_grows_row_by_row(qapp: object, trace: Trace) -> None:
    made = decoding(trace, AttentionKind.CROSS)
    images = [paint_step(made, step, style(), 1) for step in range(made.steps)]
    middle = images[0].width() // 2
    blank = QColor(LIGHT.chrome).rgb()

    def pending(image: QImage) -> int:
        return sum(image.pixel(middle, y) == blank for y in range(image.height()))

    counts = [pending(image) for image in images]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    assert counts[-1] == 0


def test_a_scale_gives_more_pixels(qapp: object, trace: Trace) -> None:
    made = decoding(trace, AttentionKind.DECODER_SELF)
    small, large = (paint_step(made, 3, style(), scale) for scale in (1, 3))
    assert large.width() == 3 * small.width()


def test_an_endless_animation_is_refused(qapp: object, make_trace: Callable[..., Trace]) -> None:
    long = make_trace("▁a </s>", " ".join(["<s>", *["▁b"] * MOST_STEPS]))
    with pytest.raises(UserError, match=f"{MOST_STEPS + 1} steps"):
        to_gif(decoding(long, AttentionKind.DECODER_SELF), style(), 1, lambda *_: None)


def test_it_stops_when_nobody_waits_any_more(qapp: object, trace: Trace) -> None:
    def stop(done: int, _total: int) -> None:
        if done == 2:
            raise StopIteration

    with pytest.raises(StopIteration):
        to_gif(decoding(trace, AttentionKind.CROSS), style(), 1, stop)
