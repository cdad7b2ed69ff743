"""What can be exported in which format, and how it gets to a file or the clipboard."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage

from core.counted import counted
from core.errors import UserError
from core.files import atomic_write
from core.system import portable_name
from core.trace.head_map import head_map
from core.trace.npz import maps_size, save_npz
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.matrix import Style
from transformer_viz.engine.quantities import Found, Quantities
from transformer_viz.engine.transfers import Progress, Transfers
from transformer_viz.export.figure import Figure
from transformer_viz.export.picture import Picture, to_image, to_pdf, to_png, to_svg
from transformer_viz.export.table import DELIMITERS, MARK, Dialect, to_table
from transformer_viz.state.options import Quantity
from transformer_viz.state.session import Session
from transformer_viz.widgets.head_pictures import head_picture, map_axes
from transformer_viz.words.gate_wording import describe_changes
from transformer_viz.words.quantity_wording import NAMES, averaged_heads, map_title
from transformer_viz.words.wording import head_name, head_title

MOST_TRACE_BYTES = 4 * 1024**3
CLIPBOARD = "the clipboard"


class Subject(StrEnum):
    VIEW = "view"
    HEADS = "heads"
    MATRIX = "matrix"
    DECODING = "decoding"
    TRACE = "trace"


class Format(StrEnum):
    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
    CSV = "csv"
    TSV = "tsv"
    GIF = "gif"
    NPZ = "npz"


class Colors(StrEnum):
    SHOWN = "as shown"
    LIGHT = "light, for paper"


FORMATS: dict[Subject, tuple[Format, ...]] = {
    Subject.VIEW: (Format.PNG, Format.SVG, Format.PDF),
    Subject.HEADS: (Format.PNG, Format.SVG, Format.PDF),
    Subject.MATRIX: (Format.CSV, Format.TSV),
    Subject.DECODING: (Format.GIF,),
    Subject.TRACE: (Format.NPZ,),
}
PICTURES = (Subject.VIEW, Subject.HEADS)
SCALED = (Format.PNG, Format.GIF)
PAINTED = (*SCALED, Format.SVG, Format.PDF)
MIME_TYPES = {
    Format.SVG: "image/svg+xml",
    Format.PDF: "application/pdf",
    Format.CSV: "text/csv",
    Format.TSV: "text/tab-separated-values",
    Format.GIF: "image/gif",
}


@dataclass(frozen=True, slots=True)
class Export:
    """One thing in one format.

    Attributes:
        scale: pixels to a logical pixel, each way.
        figure: how a picture is set.
        dialect: for whom a table is written.
    """

    subject: Subject
    format: Format
    scale: int = 2
    colors: Colors = Colors.SHOWN
    figure: Figure = field(default_factory=Figure)
    dialect: Dialect = Dialect.PROGRAMS

    @property
    def copyable(self) -> bool:
        return self.format is not Format.NPZ


class Exporter(QObject):
    """Exports files; pictures are painted in the window's thread, everything else in the other."""

    exported = Signal(str)  # one sentence

    def __init__(
        self,
        session: Session,
        quantities: Quantities,
        transfers: Transfers,
        pictures: Callable[[Subject, Colors, Figure], Picture],
        style: Callable[[Colors], Style],
        parent: QObject | None = None,
    ) -> None:
        """Prepare exports. `quantities`: what a table of numbers holds. `pictures` paints the view
        shown and the heads map; it raises UserError where a view has no picture. `style` is for
        what is painted here."""
        super().__init__(parent)
        self._session = session
        self._quantities = quantities
        self._transfers = transfers
        self._pictures = pictures
        self._style = style

    @property
    def ready(self) -> bool:
        """Whether there is anything to export."""
        return self._session.trace is not None

    def save(self, export: Export, path: Path) -> None:
        """Write the file; what stood there stays where this fails."""
        try:
            write = self._writing(export, path)
        except UserError as error:
            self._transfers.failed.emit(str(error))
            return
        self._transfers.save(
            path.name, write, lambda _nothing: self.exported.emit(f"Saved {path}.")
        )

    def copy(self, export: Export) -> None:
        """Put it on the clipboard."""
        try:
            if export.format is Format.PNG:
                self._put_image(to_image(self._picture(export), export.scale))
                return
            make = self._making(export)
        except UserError as error:
            self._transfers.failed.emit(str(error))
            return
        self._transfers.save(CLIPBOARD, make, lambda data: self._put(export.format, data))

    def name(self, export: Export) -> str:
        """A name for the file, without characters that some system forbids."""
        if export.subject in PICTURES:
            title = self._picture(export).name
        elif export.subject is Subject.TRACE:
            title = "attention"
        elif export.subject is Subject.MATRIX:
            quantity = self._session.options.quantity
            heads = averaged_heads(quantity, self._session.selection)
            title = map_title(quantity, heads, averaged=True)
        else:
            title = head_name(self._head(export.subject))
        return f"{portable_name(title)}.{export.format}"

    def preview(self, export: Export) -> QImage | None:
        """How a picture will look; None for what is no picture."""
        if export.subject not in PICTURES:
            return None
        return to_image(self._picture(export), 2)

    def size(self, export: Export) -> str:
        """What to expect, in words."""
        trace = self._session.trace
        if trace is None:
            return "no sentence yet"
        if export.subject in PICTURES:
            size = self._picture(export).size
            if export.format is Format.PNG:
                size = size * export.scale
                return f"{size.width():,} × {size.height():,} pixels"
            return f"{size.width():,} × {size.height():,}, scalable"
        if export.subject is Subject.TRACE:
            maps, size_ = maps_size(trace)
            return f"{maps:,} maps, {in_words(size_)} before compression"
        head = self._head(export.subject)
        rows, columns = len(trace.query_tokens(head.kind)), len(trace.key_tokens(head.kind))
        if export.subject is Subject.DECODING:
            return counted(rows, "step")
        return f"up to {rows:,} × {columns:,} {self._session.options.quantity.noun}s"

    # Making

    def _picture(self, export: Export) -> Picture:
        return self._pictures(export.subject, export.colors, export.figure)

    def _writing(self, export: Export, path: Path) -> Callable[[Progress], None]:
        if export.subject is Subject.TRACE:
            trace = self._trace()
            _maps, size = maps_size(trace)
            if size > MOST_TRACE_BYTES:
                raise UserError(
                    f"This trace takes {in_words(size)} and the limit is "
                    f"{in_words(MOST_TRACE_BYTES)}; shorten the text or save single maps."
                )
            return lambda progress: save_npz(trace, path, progress)
        make = self._making(export)

        def write(progress: Progress) -> None:
            data = make(progress)

            def fill(temporary: Path) -> None:
                temporary.write_bytes(data)

            atomic_write(path, fill)

        return write

    def _making(self, export: Export) -> Callable[[Progress], bytes]:
        match export.format:
            case Format.PNG:
                image = to_image(self._picture(export), export.scale)
                return lambda _progress: to_png(image)
            case Format.SVG | Format.PDF:
                encode = to_svg if export.format is Format.SVG else to_pdf
                data = encode(self._picture(export))
                return lambda _progress: data
            case Format.GIF:
                return self._animation(export.scale, self._style(export.colors))
            case _:
                return self._table(DELIMITERS[export.format], export.dialect)

    def _table(self, delimiter: str, dialect: Dialect) -> Callable[[Progress], bytes]:
        found, options = self._found(), self._session.options
        heads = averaged_heads(found.quantity, self._session.selection)

        def make(_progress: Progress) -> bytes:
            axes = map_axes(found.trace, heads[0].kind, options)
            if axes.empty:
                raise UserError(
                    "Every token is hidden; turn off “Hide special tokens” to export them."
                )
            shown = head_map(found.trace, heads, axes.rows, axes.columns)
            rows, columns = axes.rows.tokens, axes.columns.tokens
            title = map_title(found.quantity, heads, averaged=True)
            if found.quantity is Quantity.WEIGHT:
                title = f"{title} · weight"
            title = _with_gates(title, found.of)
            return to_table(shown.weights, shown.allowed, rows, columns, delimiter, title, dialect)

        return make

    def _animation(self, scale: int, style: Style) -> Callable[[Progress], bytes]:
        trace, options = self._trace(), self._session.options
        head = self._head(Subject.DECODING)
        if head.kind not in trace.kinds or head.kind is AttentionKind.ENCODER_SELF:
            raise UserError("This trace has no decoder, so there is no decoding to export.")

        def make(progress: Progress) -> bytes:
            from transformer_viz.export.animation import Decoding, to_gif

            axes = map_axes(trace, head.kind, options)
            if axes.empty:
                raise UserError(
                    "Every token is hidden; turn off “Hide special tokens” to export them."
                )
            picture = head_picture(trace, [head], axes, options).matrix
            title = _with_gates(head_title(head), trace)
            return to_gif(Decoding(title, head.kind, picture), style, scale, progress)

        return make

    def _found(self) -> Found:
        """The maps that the heatmap shows."""
        self._trace()
        quantities, name = self._quantities, NAMES[self._session.options.quantity]
        if quantities.asking:
            raise UserError(f"{name} is still being computed; try again in a moment.")
        found = quantities.found
        if found is None or self._session.selection.kind not in found.trace.kinds:
            raise UserError(quantities.problem or f"This trace has no {name} here.")
        return found

    def _trace(self) -> Trace:
        if self._session.trace is None:
            raise UserError("There is nothing to export yet; type a sentence first.")
        return self._session.trace

    def _head(self, subject: Subject) -> Head:
        """The current head; for a decoding the head of its number that looks at the translation
        where the current one is the encoder's."""
        selection = self._session.selection
        head = selection.primary
        trace = self._session.trace
        if subject is not Subject.DECODING or trace is None:
            return head
        if head.kind is not AttentionKind.ENCODER_SELF:
            return head
        kind = next((k for k in reversed(trace.kinds)), head.kind)
        return trace.nearest(head._replace(kind=kind))

    # To the clipboard

    def _put_image(self, image: QImage) -> None:
        QGuiApplication.clipboard().setImage(image)
        self.exported.emit("The picture is on the clipboard.")

    def _put(self, format_: Format, data: bytes) -> None:
        data = data.removeprefix(MARK)  # a mark of files
        mime = QMimeData()
        mime.setData(MIME_TYPES[format_], data)
        if format_ in DELIMITERS:
            mime.setText(data.decode("utf-8", "surrogatepass"))
        QGuiApplication.clipboard().setMimeData(mime)
        self.exported.emit(f"The {format_.upper()} is on the clipboard.")


def _with_gates(title: str, trace: Trace) -> str:
    """And what was changed in the model of this trace."""
    return " · ".join(filter(None, (title, describe_changes(trace.gates, trace.switches, trace))))


def in_words(size: int) -> str:
    """A number of bytes, as in "1.3 MB"."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
