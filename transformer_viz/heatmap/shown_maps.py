"""The maps that a view shows, made at once or, for long texts, beside the event loop."""

from collections.abc import Iterator
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from core.trace.trace import Head
from transformer_viz.engine.quantities import Found
from transformer_viz.engine.stream import Stream
from transformer_viz.heatmap.matrix_grid import LARGEST
from transformer_viz.state.options import ViewOptions
from transformer_viz.widgets.head_pictures import HeadPicture, MapAxes, head_picture, map_axes

INLINE_CELLS = 512 * 512
"""Maps of so many cells in all are computed at once; larger ones beside the event loop."""

Groups: TypeAlias = tuple[tuple[Head, ...], ...]
"""For each map its heads: one, or several as their mean."""


class ShownMaps(QObject):
    """The maps on screen; they stay until the first of the requested maps arrives.

    Attributes:
        found: what they are of.
        pictures: those that are there, in order.
        groups: the heads of each, also of those still to come.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.pictures: tuple[HeadPicture, ...] = ()
        self.groups: Groups = ()
        self.found: Found | None = None
        self._wanted: tuple[Groups, ViewOptions] | None = None
        self._awaited = False  # the pictures are those of an earlier wish
        self._stream = Stream(self)
        self._stream.arrived.connect(self._add)
        self._stream.finished.connect(self._finish)

    @property
    def running(self) -> bool:
        return self._stream.running

    @property
    def axes(self) -> MapAxes | None:
        """The axes of the pictures; None while there is none."""
        return self.pictures[0].axes if self.pictures else None

    def show(self, found: Found | None, groups: Groups, options: ViewOptions) -> None:
        """Make these maps, unless they are the ones that are shown or being made."""
        wanted = (groups, _relevant(options))
        if found is self.found and wanted == self._wanted:
            return
        self.found, self._wanted, self._awaited = found, wanted, True
        self._stream.stop()
        if found is None:
            self._finish()
            return
        kind, trace = groups[0][0].kind, found.trace
        cells = len(trace.query_tokens(kind)) * len(trace.key_tokens(kind))
        if cells * sum(map(len, groups)) > INLINE_CELLS:
            self._stream.start(_pictures(found, groups, options))
            self.changed.emit()
            return
        self._replace(tuple(_pictures(found, groups, options)))
        self.changed.emit()

    def _replace(self, pictures: tuple[HeadPicture, ...]) -> None:
        self.pictures, self._awaited = pictures, False
        self.groups = self._wanted[0] if pictures and self._wanted else ()

    def _add(self, picture: HeadPicture) -> None:
        if self._awaited:
            self._replace((picture,))
        else:
            self.pictures += (picture,)
        self.changed.emit()

    def _finish(self) -> None:
        if self._awaited:  # there was nothing to draw
            self._replace(())
        self.changed.emit()


def _relevant(options: ViewOptions) -> ViewOptions:
    """The options without those that change no map."""
    return ViewOptions(
        scale=options.scale,
        threshold=options.threshold,
        hide_specials=options.hide_specials,
        merge_words=options.merge_words,
    )


def _pictures(found: Found, groups: Groups, options: ViewOptions) -> Iterator[HeadPicture]:
    """Nothing where all rows or all columns are left out."""
    kind, trace = groups[0][0].kind, found.trace
    axes = map_axes(trace, kind, options)
    if not axes.empty:
        largest = LARGEST if len(groups) > 1 else None
        for heads in groups:
            measure, source = found.measure(kind), found.source_shares(heads[0])
            yield head_picture(trace, heads, axes, options, largest, measure, source)
