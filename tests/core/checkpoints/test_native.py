from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from core import files
from core.checkpoints.header import read_header
from core.checkpoints.native import add_scores, fill, load_checkpoint, save_checkpoint
from core.config import ModelConfig
from core.errors import UserError
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from tests.core.model.small import random_ids, small_transformer

TOKENIZER = train_tokenizer(["das Tier war zu müde", "the animal was too tired"], 40)
PROVENANCE = {"data": ["grammar"], "step": 100, "scores": {"bleu": 99.5}, "note": "größer 駅"}


def model_for_tokenizer(**changes: Any) -> Transformer:
    return small_transformer(vocab_size=TOKENIZER.vocab_size, **changes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path: Path) -> Path:
    save_checkpoint(path, model_for_tokenizer(), TOKENIZER, PROVENANCE)
    return path


VARIANTS: list[dict[str, Any]] = [
    {},
    {"shared_embeddings": "target"},
    {"shared_embeddings": "none", "output_bias": True},
    {"norm": "pre", "positions": "learned", "bias": False, "d_k": 5, "d_v": 3},
    {"positions": "rotary"},
    {"positions": "none"},
]


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_what_is_loaded_is_what_was_saved(path: Path, changes: dict[str, Any]) -> None:
    model = model_for_tokenizer(**changes)
    save_checkpoint(path, model, TOKENIZER, PROVENANCE)
    loaded = load_checkpoint(path)
    assert loaded.config == model.config
    assert loaded.provenance == PROVENANCE
    assert loaded.tokenizer.model_bytes == TOKENIZER.model_bytes
    assert not loaded.model.training
    source, target_in = random_ids(2, 7), random_ids(2, 5, seed=1)
    assert torch.equal(loaded.model(source, target_in), model(source, target_in))
    assert read_header(path).parameters == model.parameter_count()


@pytest.mark.parametrize(("shared", "matrices"), [("all", 1), ("target", 2), ("none", 3)])
def test_shared_matrices_are_stored_once_and_shared_again(
    path: Path, shared: str, matrices: int
) -> None:
    save_checkpoint(path, model_for_tokenizer(shared_embeddings=shared), TOKENIZER, {})
    stored = [name for name in safetensors.torch.load_file(path) if "embedding" in name]
    assert len(stored) == matrices
    model = load_checkpoint(path).model
    assert (model.source_embedding.weight is model.target_embedding.weight) == (shared == "all")
    assert (model.output_embedding.weight is model.target_embedding.weight) == (shared != "none")


@pytest.mark.parametrize(
    ("dtype", "epsilon"), [(torch.float16, 2**-11), (torch.bfloat16, 2**-8)], ids=str
)
def test_half_precision_halves_the_file_and_comes_back_as_float32(
    path: Path, dtype: torch.dtype, epsilon: float
) -> None:
    model = model_for_tokenizer()
    save_checkpoint(path, model, TOKENIZER, PROVENANCE)
    full = path.stat().st_size
    save_checkpoint(path, model, TOKENIZER, PROVENANCE, dtype)
    assert full - path.stat().st_size == pytest.approx(2 * model.parameter_count(), rel=0.01)
    loaded = dict(load_checkpoint(path).model.named_parameters())
    for name, parameter in model.named_parameters():
        assert loaded[name].dtype == torch.float32
        torch.testing.assert_close(loaded[name], parameter, rtol=epsilon, atol=1e-7)


def test_saving_leaves_the_model_as_it_is(path: Path) -> None:
    model = model_for_tokenizer().train()
    save_checkpoint(path, model, TOKENIZER, {}, torch.float16)
    assert model.training
    assert model.source_embedding.weight.dtype == torch.float32


def test_any_text_may_stand_in_the_provenance(path: Path) -> None:
    provenance = {"data": [os.fsdecode(b"/data/\xfft\xc3\xa4st.tsv")], "note": "駅 \0 😀"}
    save_checkpoint(path, model_for_tokenizer(), TOKENIZER, provenance)
    assert load_checkpoint(path).provenance == provenance


def edited(path: Path, change: Callable[[dict[str, Tensor]], None]) -> None:
    """The same file with its tensors changed."""
    tensors = safetensors.torch.load_file(path)
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    change(tensors)
    safetensors.torch.save_file(tensors, path, metadata=metadata)


FIRST = "encoder.0.feed_forward.inner.bias"


def rename(tensors: dict[str, Tensor]) -> None:
    tensors["encoder.0.surplus"] = tensors.pop(FIRST)


def cut(tensors: dict[str, Tensor]) -> None:
    tensors[FIRST] = tensors[FIRST][:-1].clone()


def transpose(tensors: dict[str, Tensor]) -> None:
    name = FIRST.replace("bias", "weight")
    tensors[name] = tensors[name].T.contiguous()


def no_tokenizer(tensors: dict[str, Tensor]) -> None:
    del tensors["tokenizer"]


def tokenizer_of_floats(tensors: dict[str, Tensor]) -> None:
    tensors["tokenizer"] = tensors["tokenizer"].bfloat16()


def other_bytes(tensors: dict[str, Tensor]) -> None:
    tensors["tokenizer"] = torch.zeros(100, dtype=torch.uint8)


def no_bytes(tensors: dict[str, Tensor]) -> None:
    tensors["tokenizer"] = torch.zeros(0, dtype=torch.uint8)


def other_tokenizer(tensors: dict[str, Tensor]) -> None:
    other = train_tokenizer(["ab"], 100).model_bytes
    tensors["tokenizer"] = torch.from_numpy(np.frombuffer(other, np.uint8).copy())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop(FIRST), rf"lacks 1 tensor: {FIRST}"),
        (lambda tensors: tensors.update(x=torch.zeros(1)), r"has 1 unexpected tensor: x"),
        (rename, rf"lacks 1 tensor: {FIRST}"),
        (cut, rf"{FIRST} has shape \[19\], but the model needs \[20\]"),
        (transpose, r"inner.weight has shape \[12, 20\], but the model needs \[20, 12\]"),
        (no_tokenizer, "contains no tokenizer"),
        (tokenizer_of_floats, "contains no tokenizer"),
        (other_bytes, "contains no readable tokenizer"),
        (no_bytes, "contains no readable tokenizer"),
        (other_tokenizer, "the tokenizer has 10 pieces, but the model has"),
    ],
)
def test_tensors_that_are_not_exactly_the_models_are_named(
    saved: Path, change: Callable[[dict[str, Tensor]], None], message: str
) -> None:
    edited(saved, change)
    with pytest.raises(UserError, match=message) as raised:
        load_checkpoint(saved)
    assert str(saved) in str(raised.value)


def test_a_tied_alias_in_the_file_is_not_quietly_dropped(saved: Path) -> None:
    def alias(tensors: dict[str, Tensor]) -> None:
        tensors["target_embedding.weight"] = tensors["source_embedding.weight"].clone()

    edited(saved, alias)
    with pytest.raises(UserError, match=r"1 unexpected tensor: target_embedding.weight"):
        load_checkpoint(saved)


def test_many_missing_tensors_are_counted() -> None:
    model = small_transformer()
    with pytest.raises(UserError, match=r"^m lacks \d\d tensors: \S+, \S+, \S+\. It is damaged\.$"):
        fill(model, {}, "m")


def test_nothing_is_filled_when_something_is_wrong() -> None:
    model = small_transformer()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    tensors[FIRST] = torch.zeros(3)
    with pytest.raises(UserError):
        fill(model, tensors, "m")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "model.safetensors"
    save_checkpoint(path, model_for_tokenizer(), TOKENIZER, PROVENANCE, torch.float16)
    return path.read_bytes()


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_a_file_cut_anywhere_is_the_users_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject
) -> None:
    header = 8 + int.from_bytes(content[:8], "little")
    end = data.draw(
        st.integers(0, 16)
        | st.integers(0, header + 16)
        | st.integers(0, len(content) - 1)
        | st.just(len(content) - 1)
    )
    path = tmp_path_factory.getbasetemp() / "cut.safetensors"
    path.write_bytes(content[:end])
    with pytest.raises(UserError):
        load_checkpoint(path)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_a_header_with_any_byte_changed_ends_in_one_sentence_or_a_model(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject
) -> None:
    header = 8 + int.from_bytes(content[:8], "little")
    spoilt = bytearray(content)
    spoilt[data.draw(st.integers(0, header - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "spoilt.safetensors"
    path.write_bytes(spoilt)
    with suppress(UserError):
        load_checkpoint(path)


def test_bytes_after_the_end_are_damage(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    with pytest.raises(UserError, match="truncated or damaged"):
        load_checkpoint(saved)


def test_a_model_too_large_for_any_memory(saved: Path) -> None:
    tensors = safetensors.torch.load_file(saved)
    config = model_for_tokenizer().config.to_dict() | {"d_k": 1 << 50}
    metadata = {"format": "transformer-viz", "format_version": "1", "provenance": "{}"}
    safetensors.torch.save_file(tensors, saved, metadata | {"config": json.dumps(config)})
    with pytest.raises(UserError, match="too large for this machine's memory"):
        load_checkpoint(saved)


def test_another_kind_of_safetensors(path: Path) -> None:
    safetensors.torch.save_file({"a": torch.zeros(2)}, path, metadata={"format": "pt"})
    with pytest.raises(UserError, match="not a Transformer Viz model"):
        load_checkpoint(path)


def test_a_newer_version(saved: Path) -> None:
    tensors = safetensors.torch.load_file(saved)
    config = json.dumps(model_for_tokenizer().config.to_dict())
    metadata = {"format": "transformer-viz", "format_version": "2", "config": config}
    safetensors.torch.save_file(tensors, saved, metadata=metadata)
    with pytest.raises(UserError, match=r"format version 2, .* update Transformer Viz"):
        load_checkpoint(saved)


def test_a_save_that_fails_leaves_the_old_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(UserError, match=r"Could not write .*No space left on device"):
        save_checkpoint(saved, model_for_tokenizer(), TOKENIZER, {})
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_numbers_that_changed_on_the_disk_are_refused(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-40] ^= 1
    saved.write_bytes(content)
    with pytest.raises(UserError, match=r"has changed since it was written: its checksum does not"):
        load_checkpoint(saved)


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Could not write"):
        save_checkpoint(tmp_path / "no" / "m", model_for_tokenizer(), TOKENIZER, {})


def test_a_model_laid_out_in_transposed_memory_can_be_written(path: Path) -> None:
    model = model_for_tokenizer()
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.data = parameter.data.T.contiguous().T
    save_checkpoint(path, model, TOKENIZER, {})
    loaded = load_checkpoint(path).model
    for parameter, written in zip(model.parameters(), loaded.parameters(), strict=True):
        assert torch.equal(parameter, written)


def test_scores_are_added_and_nothing_else_changes(path: Path) -> None:
    model = model_for_tokenizer()
    save_checkpoint(path, model, TOKENIZER, {"seed": 3, "scores": {"bleu": 1.0}}, torch.float16)
    before = safetensors.torch.load_file(path)
    add_scores(path, {"test.tsv": {"exact": 99.0}})
    after = safetensors.torch.load_file(path)
    assert read_header(path).provenance == {
        "seed": 3,
        "scores": {"bleu": 1.0, "test.tsv": {"exact": 99.0}},
    }
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert tensor.dtype == after[name].dtype
        assert torch.equal(tensor, after[name])


def test_the_metadata_describe_the_model_in_json(saved: Path) -> None:
    with safetensors.safe_open(saved, "pt") as file:
        metadata = file.metadata()
    assert set(metadata) == {"checksum", "format", "format_version", "config", "provenance"}
    config = ModelConfig.from_dict(json.loads(metadata["config"]))
    assert config == model_for_tokenizer().config


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_no_numbers_are_refused(path: Path, value: float) -> None:
    """Whatever the checksum says: a run that has diverged writes them."""
    model = model_for_tokenizer()
    name, parameter = list(model.named_parameters())[-1]
    with torch.no_grad():
        parameter.view(-1)[-1] = value
    save_checkpoint(path, model, TOKENIZER, PROVENANCE)
    with pytest.raises(UserError, match=f"{name} contains NaN or infinite values"):
        load_checkpoint(path)
