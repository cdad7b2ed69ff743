"""MarianMT folders that are damaged, hostile or going away: one sentence, and nothing executes."""

from __future__ import annotations

import io
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
from safetensors.torch import load_file, save_file

from core.checkpoints.opening import open_model
from core.checkpoints.weights import SafetensorsWeights
from core.errors import UserError
from tests.core.checkpoints.marian_folders import refusal

pytest.importorskip("transformers")


@contextmanager
def replaced(saved: Path, name: str, content: bytes) -> Iterator[Path]:
    """For a while, a copy of the folder in which one file is another."""
    folder = Path(shutil.copytree(saved, saved.parent / "replaced"))
    try:
        (folder / name).write_bytes(content)
        yield folder
    finally:
        shutil.rmtree(folder)


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
    assert "pytorch_model.bin is damaged, or contains code" in said
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
        torch_file({"model.shared.weight": torch.eye(2).to_sparse()}),
        torch_file({"model.shared.weight": torch.empty(2, device="meta")}),
    ],
    ids=range(11),
)
def test_a_bin_of_something_else(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    assert "pytorch_model.bin" in refusal(folder)


def test_a_bin_is_not_unpacked_to_any_size(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    stored = io.BytesIO(torch_file(tensors))
    with (
        zipfile.ZipFile(stored) as before,
        zipfile.ZipFile(folder / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for one in before.infolist():
            after.writestr(one.filename, before.read(one))
    assert "pytorch_model.bin is damaged" in refusal(folder)


def test_one_number_is_not_given_out_for_many(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    name = "model.shared.weight"
    name = name if name in tensors else "model.encoder.embed_tokens.weight"
    stretched = torch.ones(1, 1).expand(tensors[name].shape)
    torch.save(tensors | {name: stretched}, folder / "pytorch_model.bin")
    assert "pytorch_model.bin is truncated or damaged" in refusal(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["model.decoder.layers.0.fc2.weight", "final_logits_bias"])
def test_what_is_no_number_is_no_weight(folder: Path, name: str, value: float) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors[name].view(-1)[-1] = value
    save_file(tensors, folder / "model.safetensors")
    assert f"{name} contains NaN or infinite values" in refusal(folder)


# Places


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "source.spm", "vocab.json"])
def test_a_pipe_is_not_waited_for(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert f"{name} is a pipe or a device, not a file" in refusal(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "target.spm"])
def test_a_pointer_of_git_lfs_is_no_content(folder: Path, name: str) -> None:
    if name == "pytorch_model.bin":
        (folder / "model.safetensors").unlink()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 312087009\n"
    (folder / name).write_text(pointer)
    assert f"{name} is only a Git LFS pointer" in refusal(folder)


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


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "source.spm"])
def test_a_file_without_permissions(folder: Path, name: str) -> None:
    (folder / name).chmod(0o000)
    assert f"{name} may not be read; change its permissions." in refusal(folder)


@pytest.mark.usefixtures("permissions")
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
    assert (
        "has no model.safetensors, so the model cannot be opened; copy the whole folder again"
        in refusal(folder)
    )


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
