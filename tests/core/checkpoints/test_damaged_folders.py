"""MarianMT folders that are damaged, hostile or going away: one sentence, and nothing executes."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from core.checkpoints.opening import open_model
from core.checkpoints.weights import SafetensorsWeights
from core.errors import UserError
from tests.core.checkpoints.marian_folders import save_marian_folder

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "opus"
    save_marian_folder(folder, encoder_layers=1, decoder_layers=1)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "opus"))


@contextmanager
def replaced(saved: Path, name: str, content: bytes) -> Iterator[Path]:
    """For a while, a copy of the folder in which one file is another."""
    folder = Path(shutil.copytree(saved, saved.parent / "replaced"))
    try:
        (folder / name).write_bytes(content)
        yield folder
    finally:
        shutil.rmtree(folder)


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as raised:
        open_model(path)
    text = str(raised.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


# Weights


@settings(max_examples=40)
@given(data=st.data())
def test_weights_cut_anywhere_are_the_users_error(saved: Path, data: st.DataObject) -> None:
    content = (saved / "model.safetensors").read_bytes()
    end = data.draw(st.integers(0, 5_000) | st.integers(0, len(content) - 1))
    with replaced(saved, "model.safetensors", content[:end]) as folder:
        assert "model.safetensors is truncated or damaged" in refusal(folder)


@settings(max_examples=40)
@given(data=st.data())
def test_a_header_with_any_byte_changed_ends_in_one_sentence_or_a_model(
    saved: Path, data: st.DataObject
) -> None:
    spoilt = bytearray((saved / "model.safetensors").read_bytes())
    header = 8 + int.from_bytes(spoilt[:8], "little")
    spoilt[data.draw(st.integers(0, header - 1))] = data.draw(st.integers(0, 255))
    with replaced(saved, "model.safetensors", bytes(spoilt)) as folder, suppress(UserError):
        open_model(folder)


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


def torch_file(value: object, **settings: Any) -> bytes:
    written = io.BytesIO()
    torch.save(value, written, **settings)
    return written.getvalue()


TRAPS: dict[str, Callable[[Trap, dict[str, Any]], bytes]] = {
    "a plain pickle": lambda trap, _: pickle.dumps(trap, 2),
    "among the weights": lambda trap, tensors: torch_file({**tensors, "model.shared.bias": trap}),
    "before the weights": lambda trap, tensors: torch_file([trap, tensors]),
    "in torch's old form": lambda trap, tensors: torch_file(
        {**tensors, "x": trap}, _use_new_zipfile_serialization=False
    ),
}


@pytest.mark.parametrize("trapped", TRAPS.values(), ids=TRAPS)
def test_a_pickle_bomb_does_not_go_off(
    folder: Path, trapped: Callable[[Trap, dict[str, Any]], bytes]
) -> None:
    sprung = folder / "sprung"
    weights = folder / "model.safetensors"
    content = trapped(Trap(sprung), load_file(weights))
    weights.unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    said = refusal(folder)
    assert "pytorch_model.bin is damaged, or holds code" in said
    assert "never run" in said
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))
    assert sprung.exists(), "it is a trap for those who unpickle it"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x02",
        b"not a pickle",
        b"PK\x03\x04" + bytes(300),
        pickle.dumps({"a": 1}, 2),
        torch_file({"model.shared.weight": [1.0]}),
        torch_file([torch.ones(2)]),
        torch_file({"model.shared.weight": torch.ones(2)})[:-200],
        torch_file({1: torch.ones(2)}),
    ],
    ids=range(9),
)
def test_a_bin_of_something_else(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    assert "pytorch_model.bin" in refusal(folder)


# Weights in several files


@pytest.fixture(params=["safetensors", "pickled"])
def sharded(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "sharded"
    pickled = request.param == "pickled"
    save_marian_folder(folder, encoder_layers=1, pickled=pickled, sharded=True)
    return folder


def shards(folder: Path) -> list[Path]:
    """In their order; all of them hold tensors."""
    return sorted(folder.glob("*-of-*"))


def test_each_of_several_files_stands_for_the_folder(sharded: Path) -> None:
    assert len(shards(sharded)) > 1
    for path in (shards(sharded)[-1], *sharded.glob("*.index.json")):
        assert open_model(path).config == open_model(sharded).config


def test_a_file_that_is_missing_among_several_is_named(sharded: Path) -> None:
    last = shards(sharded)[-1]
    last.unlink()
    assert f"{last.name} is not there; copy the whole folder again" in refusal(sharded)


def test_a_file_of_another_model_among_several_is_found(sharded: Path) -> None:
    first, second = shards(sharded)[:2]
    shutil.copy(first, second)
    assert f"{second.name} has " in refusal(sharded)


@pytest.mark.parametrize(
    "files",
    [None, {}, [], {"lm_head.weight": 1}, {"lm_head.weight": "../model.safetensors"}],
    ids=str,
)
def test_an_index_that_names_no_files_of_the_folder(sharded: Path, files: object) -> None:
    (index,) = sharded.glob("*.index.json")
    index.write_text(json.dumps({"weight_map": files}), encoding="utf-8")
    assert f"{index.name} does not name the files of the weights" in refusal(sharded)


# Vocabularies and settings


def test_two_pieces_with_one_id(folder: Path) -> None:
    path = folder / "vocab.json"
    vocabulary = json.loads(path.read_text(encoding="utf-8"))
    one, other = list(vocabulary)[5:7]
    vocabulary[other] = vocabulary[one]
    path.write_text(json.dumps(vocabulary), encoding="utf-8")
    said = refusal(folder)
    assert repr(one) in said
    assert repr(other) in said
    assert f"the same id, {vocabulary[one]}" in said


def test_one_piece_with_two_ids(folder: Path) -> None:
    path = folder / "vocab.json"
    text = path.read_text(encoding="utf-8")
    piece, id = list(json.loads(text).items())[5]
    path.write_text(f"{text[:-1]}, {json.dumps(piece)}: {id + 1}}}", encoding="utf-8")
    assert "same id" in refusal(folder)


def test_a_vocabulary_of_another_size(folder: Path) -> None:
    path = folder / "vocab.json"
    vocabulary = json.loads(path.read_text(encoding="utf-8"))
    count = len(vocabulary)
    path.write_text(json.dumps(vocabulary | {"more": count}), encoding="utf-8")
    said = refusal(folder)
    assert str(count) in said
    assert str(count + 1) in said


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "generation_config.json"])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b"\xff\xfe", b"[" * 100_000, b"null"], ids=range(6)
)
def test_a_file_that_is_no_json_object(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    assert name in refusal(folder)


@pytest.mark.parametrize("name", ["source.spm", "target.spm"])
@pytest.mark.parametrize("content", [b"", b"\x08\x96\x01", bytes(500)], ids=range(3))
def test_a_file_that_is_no_sentencepiece_model(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    assert "SentencePiece" in refusal(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder_layers": 10**9},
        {"decoder_attention_heads": 10**9},
        {"d_model": 10**12},
        {"encoder_ffn_dim": 10**12},
        {"vocab_size": 10**12},
        {"decoder_layers": -1},
        {"decoder_start_token_id": 10**12},
        {"dropout": "much"},
    ],
    ids=str,
)
def test_sizes_beyond_reason_take_no_memory(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")
    refusal(folder)


# Places


def test_a_zip_is_to_be_unpacked(folder: Path) -> None:
    path = folder.parent / "opus-2020-02-26.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    assert "is a zip archive; unpack it" in refusal(path)


def test_a_quantised_model_of_marian_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.ende.intgemm.alphas.bin"
    path.write_bytes(bytes(100))
    for place in (path, tmp_path):
        assert "is a quantised Marian model" in refusal(place)


def test_a_folder_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", deny)
    assert f"{folder} may not be read; change its permissions." in refusal(folder)


needs_permissions = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() == 0, reason="root may read all"
)


@needs_permissions
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "source.spm"])
def test_a_file_without_permissions(folder: Path, name: str) -> None:
    (folder / name).chmod(0o000)
    assert f"{name} may not be read; change its permissions." in refusal(folder)


@needs_permissions
@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400])
def test_a_folder_without_permissions(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    try:
        assert "may not be read" in refusal(folder)
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "source.spm", "vocab.json"])
def test_a_folder_in_the_place_of_a_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).mkdir()
    assert name in refusal(folder)


def test_weights_that_go_while_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = SafetensorsWeights.take

    def lose(self: SafetensorsWeights, name: str) -> torch.Tensor:
        (folder / "model.safetensors").unlink(missing_ok=True)
        return take(self, name)

    monkeypatch.setattr(SafetensorsWeights, "take", lose)
    assert "model.safetensors is not there; copy the whole folder again" in refusal(folder)


def test_a_model_outlives_its_folder(folder: Path) -> None:
    checkpoint = open_model(folder)
    before = {name: one.clone() for name, one in checkpoint.model.named_parameters()}
    ids = checkpoint.tokenizer.encode("It was tired.")
    for file in folder.iterdir():
        file.write_bytes(b"")
        file.unlink()
    folder.rmdir()
    assert all(torch.equal(before[name], one) for name, one in checkpoint.model.named_parameters())
    assert checkpoint.tokenizer.encode("It was tired.") == ids
