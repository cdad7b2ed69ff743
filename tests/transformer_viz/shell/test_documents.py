import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from core.errors import UserError
from core.trace.npz import save_npz
from core.trace.trace import AttentionKind, Head, Trace
from tests.transformer_viz.stage import GOOD, OTHER, Stage
from transformer_viz.shell import documents
from transformer_viz.shell.documents import Documents, Kind, kind_of, load_text
from transformer_viz.state.options import Scale
from transformer_viz.state.session import MAX_CHARACTERS, Phase, Search

OFF = {Head(AttentionKind.ENCODER_SELF, 1, 2): 0.0}


class Desk(Stage):
    def __init__(self) -> None:
        super().__init__()
        self.view = "heatmap"
        self.parent = QObject()
        self.documents = Documents(self.session, self.controller, lambda: self.view, self.parent)
        self.views: list[str] = []
        self.said: list[str] = []
        self.documents.viewWanted.connect(self.views.append)
        self.documents.saved.connect(self.said.append)


@pytest.fixture
def desk(qapp: object, qtbot: QtBot) -> Iterator[Desk]:
    made = Desk()
    made.controller.translate("a b it c")
    made.controller.open(GOOD)
    qtbot.waitUntil(made.shows("a b it c"))
    yield made
    made.backend.gate.set()
    made.controller.close()


# What a file is


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.safetensors", b"", Kind.CHECKPOINT),
        ("a.NPZ", b"", Kind.TRACE),
        ("a.tviz", b"", Kind.SESSION),
        ("a.txt", b"\x00", Kind.TEXT),
        ("a", b"PK\x03\x04", Kind.TRACE),
        ("a", b"\x40\0\0\0\0\0\0\0{", Kind.CHECKPOINT),
        ("a", b' {"format": 1}', Kind.SESSION),
        ("a.md", b"Some words.", Kind.TEXT),
        ("a.md", b"---\ntitle: x\n---\n", Kind.LESSON),
    ],
)
def test_a_file_is_known_by_name_or_contents(
    tmp_path: Path, name: str, data: bytes, kind: Kind
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert kind_of(path) is kind


def test_a_folder_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    for name, kind in (
        ("config.json", Kind.CHECKPOINT),
        ("model.npz", Kind.CHECKPOINT),
        ("run.json", Kind.RUN),
    ):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / name).write_bytes(b"{}")
        assert kind_of(folder) is kind
    assert kind_of(tmp_path / "config-json" / "config.json") is Kind.CHECKPOINT


def test_a_model_of_marian_is_told_from_a_trace(tmp_path: Path) -> None:
    model, trace = tmp_path / "model.npz", tmp_path / "trace.npz"
    np.savez(model, **{"special:model.yml": np.frombuffer(b"type: transformer", np.uint8)})
    np.savez(trace, source_tokens=np.array(["a"]))
    assert (kind_of(model), kind_of(trace)) == (Kind.CHECKPOINT, Kind.TRACE)


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    for path, said in ((tmp_path / "a.png", "neither"), (tmp_path, "contains no model")):
        with pytest.raises(UserError, match=said) as caught:
            kind_of(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["config.json", "a.txt", "opus"])
def test_what_may_not_be_read_is_said(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(path: Path, **_options: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "stat", deny)
    with pytest.raises(UserError, match=name):
        kind_of(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("name", ["pipe", "pipe.txt", "pipe.npz", "pipe.safetensors"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UserError, match="is a pipe or a device, not a file"):
        kind_of(tmp_path / name)


# Texts


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"The cat\nslept.\n\nThe dog ran.\n", "The cat slept."),
        ("\ufeff  Grüße.\r\n\r\nNext.".encode(), "Grüße."),
        ("日本 😀\ttab".encode(), "日本 😀 tab"),
    ],
)
def test_the_first_paragraph_of_a_text_is_one_line(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert load_text(path) == text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b" \n\n ", "contains no text"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"word " * MAX_CHARACTERS, "longer than"),
        ("ü".encode() * MAX_CHARACTERS * 3, "longer than"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with pytest.raises(UserError, match=said):
        load_text(path)
    with pytest.raises(UserError, match="does not exist; check the name"):
        load_text(tmp_path / "missing.txt")


# Opening


def test_an_opened_text_is_translated(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x y z\n\nmore")
    desk.documents.open(path)
    qtbot.waitUntil(desk.shows("x y z"))
    assert desk.controller.settings.recent_files[0] == str(path)
    assert desk.controller.settings.history[0] == "x y z"


def test_an_opened_trace_is_shown_until_the_text_is_edited(
    desk: Desk, qtbot: QtBot, tmp_path: Path, trace: Trace
) -> None:
    path = tmp_path / "a.npz"
    save_npz(trace, path)
    asked = len(desk.backend.explained)
    desk.documents.open(path)
    qtbot.waitUntil(desk.shows(trace.text))
    assert desk.session.text == trace.text
    assert desk.session.status.message == "trace from a.npz"
    assert len(desk.backend.explained) == asked
    desk.controller.open(OTHER)  # another model does not take the trace away
    qtbot.waitUntil(lambda: desk.session.model.path == OTHER)
    assert desk.session.status.message == "trace from a.npz"
    desk.controller.translate("x y")
    qtbot.waitUntil(desk.shows("x y"))
    assert desk.session.status.message == ""


def test_a_trace_of_another_program_is_shown(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "bert.npz"
    maps = np.full((12, 12, 3, 3), 1 / 3, np.float32)
    np.savez(path, source_tokens=np.array(["[CLS]", "hi", "[SEP]"]), encoder_self=maps)
    desk.documents.open(path)
    qtbot.waitUntil(lambda: desk.session.status.message == "trace from bert.npz")
    assert desk.session.trace.heads("encoder_self", 11) == range(12)
    assert desk.session.text == "hi"
    assert desk.notices == []


def test_padding_in_a_trace_is_said_beside_what_is_shown(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "bert.npz"
    maps = np.full((2, 2, 4, 4), 1 / 4, np.float32)
    np.savez(path, source_tokens=np.array(["[CLS]", "hi", "[SEP]", "[PAD]"]), encoder_self=maps)
    desk.documents.open(path)
    qtbot.waitUntil(lambda: desk.session.status.message == "trace from bert.npz")
    assert desk.notices == [
        "bert.npz: The trace contains padding, 1 of its 4 source tokens; save one text at a time, "
        "without padding."
    ]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.npz", b"PK broken", "is not a trace"),
        ("a.tviz", b"{", "is not a session"),
        ("a.txt", b"\xff", "not UTF-8 text"),
        ("a.bin", b"\0\0", "neither a model"),
        ("a.safetensors", b"", "is truncated"),
    ],
)
def test_what_cannot_be_opened_leaves_all_as_it_was(
    desk: Desk, qtbot: QtBot, tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    shown = desk.session.trace
    desk.documents.open(path)
    qtbot.waitUntil(lambda: bool(desk.notices))
    assert said in desk.notices[0]
    assert str(path) in desk.notices[0]
    assert desk.session.trace is shown or desk.session.trace.text == shown.text


def test_a_model_opened_after_a_slow_file_wins(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, busy = threading.Event(), threading.Event()

    def slow(path: Path) -> str:
        busy.set()
        go.wait(5)
        return "old"

    monkeypatch.setattr(documents, "load_text", slow)
    model = replace(desk.session.model, path=tmp_path / "other.safetensors")
    model.path.touch()
    monkeypatch.setattr(desk.backend, "load", lambda path, context: model)
    (tmp_path / "a.txt").write_text("old")
    desk.documents.open(tmp_path / "a.txt")
    busy.wait(5)
    desk.documents.open(model.path)
    assert not desk.controller.transfers.opening
    qtbot.waitUntil(lambda: desk.session.model is model)
    go.set()
    qtbot.wait(50)  # the text would come now
    assert desk.session.text == "a b it c"


# Sessions


def test_a_session_brings_everything_back(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.tviz"
    desk.session.select(layer=0, head=1)
    desk.session.pin(1, 2)
    desk.session.pin(2, 2, add=True)
    desk.session.change_options(scale=Scale.ROW, merge_words=True)
    desk.controller.set_search(Search(4, 0.9))
    desk.controller.comparison.choose_text("a b that c")
    qtbot.waitUntil(desk.shows("a b it c"))
    desk.view = "scores"
    selection, options = desk.session.selection, desk.session.options
    desk.documents.save(path)
    qtbot.waitUntil(lambda: desk.said == [f"Saved {path}."])
    assert desk.documents.path == path

    desk.session.change_options(scale=Scale.LOG, merge_words=False)
    desk.controller.set_search(Search(1, 0.6))
    desk.controller.comparison.choose_text(None)
    desk.controller.comparison.choose_model(OTHER)
    desk.controller.translate("other words entirely")
    qtbot.waitUntil(desk.shows("other words entirely"))
    desk.documents.open(path)
    qtbot.waitUntil(desk.shows("a b it c"))
    assert desk.session.selection == selection
    assert desk.session.options == options
    assert desk.controller.search == Search(4, 0.9)
    assert desk.controller.comparison.text == "a b that c"
    assert desk.controller.comparison.path is None
    assert desk.views == ["scores"]
    assert desk.controller.settings.recent_files[0] == str(path)


def test_a_session_of_another_model_opens_that_model(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The selection waits for the model, however long it loads."""
    monkeypatch.chdir(tmp_path)
    GOOD.write_bytes(b"weights")
    path = tmp_path / "a.tviz"
    desk.session.select(layer=1, head=0, query=1)
    desk.session.set_gates(OFF)
    selection = desk.session.selection
    desk.documents.save(path)
    qtbot.waitUntil(lambda: bool(desk.said))
    desk.controller.open(OTHER)
    desk.controller.translate("x")
    qtbot.waitUntil(desk.shows("x"))
    assert desk.session.model.path == OTHER
    desk.documents.open(path)
    qtbot.waitUntil(lambda: desk.session.model.path == GOOD)
    qtbot.waitUntil(desk.shows("a b it c"))
    assert desk.session.selection == selection
    assert desk.session.gates == OFF
    assert desk.notices == []


def test_a_session_whose_model_is_missing_says_what_is_used(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.tviz"
    desk.documents.save(path)  # no such file as good.safetensors exists here
    qtbot.waitUntil(lambda: bool(desk.said))
    desk.controller.translate("x")
    desk.session.set_gates(OFF)
    desk.documents.open(path)
    qtbot.waitUntil(lambda: bool(desk.notices))
    assert desk.session.gates == {}, "they were for the model that is missing"
    assert "good is missing" in desk.notices[0]
    assert desk.notices[1] == "good is used instead."


def test_a_session_brings_back_the_trace_of_a_file(
    desk: Desk, qtbot: QtBot, tmp_path: Path, trace: Trace
) -> None:
    save_npz(trace, tmp_path / "a.npz")
    desk.documents.open(tmp_path / "a.npz")
    qtbot.waitUntil(desk.shows(trace.text))
    desk.session.select(layer=1, head=0, query=3)
    selection = desk.session.selection
    desk.documents.save(tmp_path / "a.tviz")
    qtbot.waitUntil(lambda: bool(desk.said))
    desk.controller.translate("x")
    qtbot.waitUntil(desk.shows("x"))
    desk.documents.open(tmp_path / "a.tviz")
    qtbot.waitUntil(desk.shows(trace.text))
    assert desk.session.status.message == "trace from a.npz"
    assert desk.session.selection == selection


def test_a_session_that_cannot_be_saved_says_why(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "no" / "a.tviz"
    desk.documents.save(path)
    qtbot.waitUntil(lambda: bool(desk.notices))
    assert str(path) in desk.notices[0]
    assert desk.documents.path is None
    assert desk.phase is Phase.READY


# Changes that are not saved


def test_what_differs_from_the_file_is_unsaved(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part that the file holds counts, and counts no more once it is as in the file."""
    documents, session, controller = desk.documents, desk.session, desk.controller
    session.select(layer=0, head=1)
    assert not documents.unsaved.there, "without a file there is nothing to differ from"
    documents.save(tmp_path / "a.tviz")
    qtbot.waitUntil(lambda: bool(desk.said))

    def look(view: str) -> None:
        desk.view = view
        controller.change_settings(view=view)

    selection = session.selection
    for change, back in (
        (lambda: session.select(head=0), lambda: session.select(head=1)),
        (lambda: session.pin(1, 1), lambda: session.select(**asdict(selection))),
        (
            lambda: session.change_options(merge_words=True),
            lambda: session.change_options(merge_words=False),
        ),
        (lambda: controller.set_search(Search(4)), lambda: controller.set_search(Search())),
        (
            lambda: controller.comparison.choose_text("a"),
            lambda: controller.comparison.choose_text(None),
        ),
        (
            lambda: controller.comparison.choose_model(OTHER),
            lambda: controller.comparison.choose_model(None),
        ),
        (lambda: session.set_gates(OFF), lambda: session.set_gates({})),
        (lambda: look("links"), lambda: look("heatmap")),
        (
            lambda: controller.translate("a b"),
            lambda: controller.translate("a b it c", selection),
        ),
    ):
        change()
        assert documents.unsaved.there
        back()
        qtbot.waitUntil(desk.shows("a b it c"))
        qtbot.waitUntil(lambda: not documents.unsaved.there)
    session.set_hover(1, 1)
    assert not documents.unsaved.there, "pointing changes nothing"


def test_a_session_is_unchanged_once_it_has_appeared(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its model loads late and has fewer heads than what was selected, and unless the text
    was edited meanwhile."""
    monkeypatch.chdir(tmp_path)
    GOOD.write_bytes(b"weights")
    path = tmp_path / "a.tviz"
    desk.session.select(layer=1, head=0, query=1)
    desk.session.set_gates(OFF)
    desk.documents.save(path)
    qtbot.waitUntil(lambda: bool(desk.said))
    values = json.loads(path.read_text(encoding="utf-8"))
    values["selection"]["layer"] = 40
    path.write_text(json.dumps(values), encoding="utf-8")
    for edited in (False, True):
        desk.documents.unsaved.forget()
        desk.controller.open(OTHER)
        desk.controller.translate("x")
        qtbot.waitUntil(desk.shows("x"))
        desk.documents.open(path)
        qtbot.waitUntil(lambda: desk.session.text == "a b it c")
        text = "a b it c d" if edited else "a b it c"
        if edited:
            desk.controller.translate(text)
            assert desk.documents.unsaved.there
        qtbot.waitUntil(lambda: desk.session.model.path == GOOD)
        qtbot.waitUntil(desk.shows(text))
        assert desk.documents.unsaved.there is edited


def test_another_session_replaces_a_changed_one_only_when_allowed(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    asked: list[Callable[[], None]] = []
    documents = Documents(
        desk.session, desk.controller, lambda: desk.view, desk.parent, leave=asked.append
    )
    documents.save(tmp_path / "a.tviz")
    qtbot.waitUntil((tmp_path / "a.tviz").exists)
    qtbot.waitUntil(lambda: not desk.controller.transfers.saving)
    desk.controller.translate("other")
    documents.open(tmp_path / "a.tviz")
    qtbot.waitUntil(lambda: bool(asked))
    assert desk.session.text == "other"
    asked[0]()
    qtbot.waitUntil(desk.shows("a b it c"))
    assert not documents.unsaved.there
