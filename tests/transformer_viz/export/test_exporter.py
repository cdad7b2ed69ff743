import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from core.errors import UserError
from core.trace.npz import load_npz
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.answers import quantities_of
from tests.transformer_viz.stage import weights_alone
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.matrix import Style
from transformer_viz.drawing.theme import LIGHT
from transformer_viz.engine.quantities import Quantities
from transformer_viz.engine.transfers import Transfers
from transformer_viz.export import exporter as exporter_module
from transformer_viz.export.dialog import EXPLANATIONS, ExportDialog
from transformer_viz.export.exporter import (
    FORMATS,
    Colors,
    Export,
    Exporter,
    Format,
    Subject,
    in_words,
)
from transformer_viz.export.figure import Figure
from transformer_viz.export.picture import Picture
from transformer_viz.state.options import ColorMap, Quantity
from transformer_viz.state.session import Session

EVERY = [(subject, format_) for subject in Subject for format_ in FORMATS[subject]]


class Desk:
    def __init__(self, session: Session, quantities: Quantities | None = None) -> None:
        self.session = session
        self.transfers = Transfers()
        table = lookup_table(ColorMap.PAPER, LIGHT)
        self.exporter = Exporter(
            session,
            quantities or weights_alone(session),
            self.transfers,
            self.picture,
            lambda _colors: Style(LIGHT, table, QGuiApplication.font()),
        )
        self.said: list[str] = []
        self.failures: list[str] = []
        self.exporter.exported.connect(self.said.append)
        self.transfers.failed.connect(self.failures.append)

    def picture(self, subject: Subject, _colors: Colors, _figure: Figure) -> Picture:
        if self.session.trace is None:
            raise UserError("There is nothing to export yet; type a sentence first.")

        def paint(painter: QPainter, rect: QRect) -> None:
            painter.fillRect(rect, LIGHT.color("accent"))
            painter.drawText(5, 20, subject)

        return Picture(f"The {subject} · 1/2", QSize(60, 40), paint)


@pytest.fixture
def desk(session: Session) -> Iterator[Desk]:
    made = Desk(session)
    yield made
    made.transfers.close()


STARTS = {
    Format.PNG: b"\x89PNG",
    Format.SVG: b"<?xml",
    Format.PDF: b"%PDF",
    Format.CSV: "Encoder self-attention · layer 1 · head 1 · weight,▁The".encode(),
    Format.TSV: "Encoder self-attention · layer 1 · head 1 · weight\t▁The".encode(),
    Format.GIF: b"GIF89a",
    Format.NPZ: b"PK",
}


@pytest.mark.parametrize(("subject", "format_"), EVERY)
def test_everything_is_saved(
    desk: Desk, qtbot: QtBot, tmp_path: Path, subject: Subject, format_: Format
) -> None:
    path = tmp_path / f"a.{format_}"
    desk.exporter.save(Export(subject, format_), path)
    qtbot.waitUntil(lambda: desk.said == [f"Saved {path}."])
    assert path.read_bytes().startswith(STARTS[format_])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("subject", "format_"), [one for one in EVERY if one[1] is not Format.NPZ])
def test_everything_but_a_trace_can_be_copied(
    desk: Desk, qtbot: QtBot, subject: Subject, format_: Format
) -> None:
    desk.exporter.copy(Export(subject, format_, scale=3))
    qtbot.waitUntil(lambda: len(desk.said) == 1)
    data = QGuiApplication.clipboard().mimeData()
    if format_ is Format.PNG:
        assert QImage(data.imageData()).size() == QSize(180, 120)
    else:
        type_ = exporter_module.MIME_TYPES[format_]
        assert data.data(type_).data().startswith(STARTS[format_])
    if format_ in (Format.CSV, Format.TSV):
        assert data.text().startswith(STARTS[format_].decode())
    assert not Export(Subject.TRACE, Format.NPZ).copyable


def test_the_table_is_the_map_that_is_shown(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    """Merged, hidden and averaged as in the heatmap, and no more digits lost."""
    path = tmp_path / "a.csv"
    session, trace = desk.session, desk.session.trace
    session.select(kind=AttentionKind.DECODER_SELF, layer=1, head=0, others=((1, 1),))
    session.change_options(hide_specials=True)
    desk.exporter.save(Export(Subject.MATRIX, Format.CSV), path)
    qtbot.waitUntil(lambda: bool(desk.said))
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    mean = trace.layer_weights(AttentionKind.DECODER_SELF, 1).mean(axis=0)
    assert rows[0][1] == "▁Das"
    assert rows[3][0] == "▁sch"
    assert float(rows[3][2]) == pytest.approx(mean[3, 2], abs=1e-7)
    assert rows[1][2] == "", "masked"


@pytest.mark.parametrize(
    ("quantity", "corner"),
    [
        (Quantity.NORM, "Cross-attention · layer 2 · head 2 · norm moved"),
        (Quantity.ALTI, "Source in the decoder · ALTI+ after layer 2"),
    ],
)
def test_the_table_names_the_quantity_that_it_holds(
    session: Session, qtbot: QtBot, tmp_path: Path, quantity: Quantity, corner: str
) -> None:
    path, desk = tmp_path / "a.csv", Desk(session, quantities_of(session))
    session.select(kind=AttentionKind.CROSS, layer=1, head=1)
    session.change_options(quantity=quantity)
    desk.exporter.save(Export(Subject.MATRIX, Format.CSV), path)
    qtbot.waitUntil(lambda: bool(desk.said))
    assert path.read_text(encoding="utf-8").startswith(f"{corner},▁The")
    assert desk.exporter.size(Export(Subject.MATRIX, Format.CSV)).endswith(f"{quantity.noun}s")
    desk.transfers.close()


def test_a_table_says_which_heads_were_off(session: Session, qtbot: QtBot, tmp_path: Path) -> None:
    path, off = tmp_path / "a.csv", {Head(AttentionKind.CROSS, 0, 1): 0.0}
    session.set_trace(replace(session.trace, gates=off))
    session.select(kind=AttentionKind.CROSS, layer=1, head=0)
    desk = Desk(session)
    desk.exporter.save(Export(Subject.MATRIX, Format.CSV), path)
    qtbot.waitUntil(lambda: bool(desk.said))
    corner = "Cross-attention · layer 2 · head 1 · weight · Cross 1.2 off"
    assert path.read_text(encoding="utf-8").startswith(f"{corner},▁The")
    desk.transfers.close()


def test_a_trace_comes_back(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    desk.exporter.save(Export(Subject.TRACE, Format.NPZ), path)
    qtbot.waitUntil(lambda: bool(desk.said))
    loaded, trace = load_npz(path), desk.session.trace
    head = (AttentionKind.CROSS, 1, 1)
    assert np.array_equal(loaded.weights(*head), trace.weights(*head))


def test_a_trace_beyond_the_limit_is_refused_with_its_size(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter_module, "MOST_TRACE_BYTES", 1000)
    desk.exporter.save(Export(Subject.TRACE, Format.NPZ), tmp_path / "a.npz")
    (sentence,) = desk.failures
    assert "kB" in sentence
    assert "the limit is 1.0 kB" in sentence
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("subject", "format_"), EVERY)
def test_a_failed_save_keeps_the_file_and_names_it(
    desk: Desk,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    subject: Subject,
    format_: Format,
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    desk.exporter.save(Export(subject, format_), path)
    qtbot.waitUntil(lambda: bool(desk.failures))
    assert str(path) in desk.failures[0]
    assert "No space left" in desk.failures[0]
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("subject", "format_"), EVERY)
def test_without_a_sentence_there_is_nothing_to_export(
    desk: Desk, tmp_path: Path, subject: Subject, format_: Format
) -> None:
    desk.session.set_trace(None)
    desk.exporter.save(Export(subject, format_), tmp_path / "a")
    assert "nothing to export yet" in desk.failures[0]


def test_an_encoder_alone_has_no_decoding(
    desk: Desk, tmp_path: Path, make_trace: Callable[..., Trace]
) -> None:
    whole = make_trace()
    kind = AttentionKind.ENCODER_SELF
    alone = Trace(source_tokens=whole.source_tokens, attention={kind: whole.attention[kind]})
    desk.session.set_trace(alone)
    desk.exporter.save(Export(Subject.DECODING, Format.GIF), tmp_path / "a.gif")
    assert "no decoder" in desk.failures[0]


def test_names_are_fit_for_any_system(desk: Desk) -> None:
    for subject, format_ in EVERY:
        name = desk.exporter.name(Export(subject, format_))
        assert name.endswith(f".{format_}")
        assert not set(name) & set('<>:"/\\|?* ')
    assert desk.exporter.name(Export(Subject.VIEW, Format.PDF)) == "the-view-1-2.pdf"


@pytest.mark.parametrize(
    ("size", "words"),
    [(999, "999 bytes"), (1000, "1.0 kB"), (1_550_000, "1.6 MB"), (5e12, "5000.0 GB")],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words


# The dialog


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def dialog(desk: Desk, parent: QWidget) -> ExportDialog:
    return ExportDialog(desk.exporter, Export(Subject.VIEW, Format.SVG, 3), parent)


def choose(dialog: ExportDialog, subject: Subject) -> None:
    dialog.subjects.button(list(Subject).index(subject)).click()


def test_it_opens_on_what_was_exported_last(dialog: ExportDialog) -> None:
    assert dialog.export == Export(Subject.VIEW, Format.SVG, 3)
    assert type(dialog.export.format) is Format


def test_formats_follow_the_subject(dialog: ExportDialog) -> None:
    for subject in Subject:
        choose(dialog, subject)
        formats = [dialog.format.itemData(row) for row in range(dialog.format.count())]
        assert formats == list(FORMATS[subject])
        assert dialog.export.subject is subject
        assert dialog.copy.isEnabled() == (subject is not Subject.TRACE)
    choose(dialog, Subject.HEADS)
    dialog.format.setCurrentIndex(1)
    choose(dialog, Subject.VIEW)
    assert dialog.export.format is Format.SVG, "a format that fits is kept"


def test_only_what_has_pixels_has_a_scale(dialog: ExportDialog) -> None:
    for subject, format_ in EVERY:
        choose(dialog, subject)
        dialog.format.setCurrentIndex(dialog.format.findData(format_))
        assert dialog.scale.isEnabled() == (format_ in (Format.PNG, Format.GIF))
    assert set(EXPLANATIONS) == set(Format)


def test_save_and_copy_say_what_was_chosen(dialog: ExportDialog, qtbot: QtBot) -> None:
    choose(dialog, Subject.MATRIX)
    dialog.format.setCurrentIndex(dialog.format.findData(Format.TSV))
    with qtbot.waitSignal(dialog.copyWanted) as wanted:
        dialog.copy.click()
    assert wanted.args == [Export(Subject.MATRIX, Format.TSV, 3)]


def test_it_opens_where_there_is_nothing_to_export(desk: Desk, parent: QWidget) -> None:
    desk.session.set_trace(None)
    made = ExportDialog(desk.exporter, Export(Subject.VIEW, Format.PNG), parent)
    for subject in Subject:
        choose(made, subject)
    assert not made.save.isEnabled()
