import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from core.bundled import bundled_models
from core.errors import UserError
from core.trace.trace import AttentionKind, Head
from transformer_viz.shell.session_file import (
    Found,
    SavedModel,
    SavedSession,
    load_session,
    save_session,
    saved_model,
)
from transformer_viz.state.gates import restored_gates, saved_gates
from transformer_viz.state.options import Combine, Penalty, Scale, ViewOptions
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import Search

SAVED = SavedSession(
    model=None,
    text="Grüße \ud800 \U0001f600 <b>",
    search=Search(4, 0.8, Penalty.LENGTH),
    view="links",
    selection=Selection(
        kind=AttentionKind.CROSS, layer=1, head=2, query=3, others=((0, 1),), pins=((1, None),)
    ),
    options=ViewOptions(scale=Scale.LOG, merge_words=True, combine=Combine.SIDE_BY_SIDE),
    gates=saved_gates({Head(AttentionKind.CROSS, 1, 2): 0.0, Head(AttentionKind.CROSS, 1, 3): 0.5}),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.tviz"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "models" / "mine.safetensors"
    file.parent.mkdir()
    file.write_bytes(b"weights")
    return file


def with_model(path: Path) -> SavedSession:
    return replace(SAVED, model=saved_model(path))


def test_what_is_saved_comes_back(path: Path, model: Path) -> None:
    saved = replace(with_model(model), second_text="x", second_model=saved_model(model))
    save_session(path, saved)
    assert load_session(path) == Found(saved, model, second_model=model)


def test_gates_come_back_as_they_were() -> None:
    off = {Head(AttentionKind.ENCODER_SELF, 0, 3): 0.0, Head(AttentionKind.CROSS, 1, 2): 1.5}
    assert restored_gates(replace(SAVED, gates=saved_gates(off)).gates) == off


def test_a_session_is_plain_json(path: Path) -> None:
    save_session(path, SAVED)
    values = json.loads(path.read_bytes())
    assert values["format"] == "transformer-viz session"
    assert values["format_version"] == 1
    assert values["selection"]["kind"] == "cross"
    assert values["options"]["scale"] == "log"


def test_a_missing_model_is_named(path: Path, model: Path) -> None:
    save_session(path, with_model(model))
    model.unlink()
    found = load_session(path)
    assert found.model is None
    assert found.session.text == SAVED.text
    (remark,) = found.remarks
    assert "mine is missing" in remark
    assert str(model) in remark


def test_a_missing_second_model_is_named(path: Path, model: Path) -> None:
    save_session(path, replace(SAVED, second_model=saved_model(model)))
    model.unlink()
    found = load_session(path)
    assert found.second_model is None
    assert "mine is missing" in found.remarks[0]


def test_a_model_that_has_changed_is_named(path: Path, model: Path) -> None:
    save_session(path, with_model(model))
    model.write_bytes(b"other weights")
    found = load_session(path)
    assert found.model == model
    assert "has changed" in found.remarks[0]


def test_a_folder_that_moved_keeps_its_model(path: Path, model: Path, tmp_path: Path) -> None:
    save_session(path, with_model(model))
    there = tmp_path / "there"
    there.mkdir()
    shutil.move(path, there)
    shutil.move(model, there)
    found = load_session(there / path.name)
    assert (found.model, found.remarks) == (there / model.name, ())


def test_a_bundled_model_is_kept_by_name(path: Path) -> None:
    (bundled, *_rest) = bundled_models()
    saved = saved_model(bundled)
    assert saved.path == ""
    save_session(path, replace(SAVED, model=saved))
    assert load_session(path).model == bundled
    save_session(path, replace(SAVED, model=SavedModel(name="gone-en-de")))
    assert "gone-en-de is missing" in load_session(path).remarks[0]


def test_a_trace_comes_along_by_name(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    np.savez(file, source_tokens=np.array(["a"]), encoder_self=np.ones((1, 1, 1, 1), np.float32))
    save_session(path, replace(SAVED, trace=str(file)))
    found = load_session(path)
    assert found.trace is not None
    assert found.trace[0] == file
    assert found.trace[1].source_tokens[0].label == "a"
    file.write_bytes(b"PK broken")
    broken = load_session(path)
    assert broken.trace is None
    assert f"{file} is not a trace" in broken.remarks[0]
    file.unlink()
    assert f"{file} does not exist" in load_session(path).remarks[0]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"format": "recipe"}, "not a Transformer Viz session"),
        ({"format_version": 2}, "session format 2"),
        ({"format_version": None}, "session format None"),
        ({"text": 5}, "text: a text"),
        ({"view": "tunnel"}, "view: heatmap or links"),
        ({"hologram": True}, "no field 'hologram'"),
        ({"search": {"beam": 0}}, "search: beam: a whole number from 1"),
        ({"options": {"threshold": 7}}, "options: threshold: a number from 0 to 1"),
        ({"selection": {"layer": -1}}, "selection: layer: a whole number"),
        ({"selection": {"pins": [[1]]}}, "selection: pins: a list"),
        ({"model": {"path": "x"}}, "model: an object with all its fields"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(path: Path, changes: dict, named: str) -> None:
    values = {"format": "transformer-viz session", "format_version": 1, **asdict(SAVED)}
    path.write_text(json.dumps(values | changes))
    with pytest.raises(UserError, match=named) as caught:
        load_session(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_other_files_are_refused_in_one_sentence(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"is not a (Transformer Viz )?session"):
        load_session(path)


def test_unreadable_and_huge_files_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist; check the name"):
        load_session(tmp_path / "missing.tviz")
    with path.open("wb") as file:
        file.truncate(11_000_000)
    with pytest.raises(UserError, match="too large"):
        load_session(path)


def test_a_failed_save_keeps_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_session(path, SAVED)
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _fd: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(UserError, match="No space left"):
        save_session(path, replace(SAVED, text="other"))
    assert path.read_bytes() == before
