"""What a MarianMT folder may get wrong, and what its tensors may say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.checkpoints.opening import open_model
from core.errors import UserError
from core.model.positions import sinusoid_table
from tests.core.checkpoints.marian_folders import save_marian_folder

pytest.importorskip("transformers")

_TABLES = [f"model.{stack}.embed_positions.weight" for stack in ("encoder", "decoder")]
_SHARED = "model.shared.weight"
_OUTPUT = "lm_head.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_marian_folder(tmp_path / "opus")
    return tmp_path / "opus"


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def change_json(path: Path, **values: Any) -> None:
    """A value of None takes the setting out."""
    said = json.loads(path.read_text(encoding="utf-8")) | values
    kept = {name: value for name, value in said.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


def test_missing_tensors_are_named(folder: Path) -> None:
    def leave_out(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if "decoder.layers.1.fc" in name]:
            del tensors[name]

    change_tensors(folder, leave_out)
    with pytest.raises(
        UserError,
        match=r"lacks 4 tensors: model.decoder.layers.1.fc1.bias, "
        r"model.decoder.layers.1.fc1.weight, model.decoder.layers.1.fc2.bias, …",
    ):
        open_model(folder)


def test_tensors_left_over_are_named(folder: Path) -> None:
    change_tensors(folder, lambda tensors: tensors.update({"model.extra.weight": torch.ones(2)}))
    with pytest.raises(UserError, match=r"has 1 tensor .* not have: model.extra.weight"):
        open_model(folder)


def test_a_tensor_of_another_shape_is_named(folder: Path) -> None:
    name = "model.encoder.layers.0.self_attn.k_proj.weight"
    change_tensors(folder, lambda tensors: tensors.update({name: torch.ones(16, 32)}))
    with pytest.raises(UserError, match=r"k_proj.weight has shape \[16, 32\]"):
        open_model(folder)


def test_whole_numbers_are_no_weights(folder: Path) -> None:
    name = "model.encoder.layers.0.fc1.weight"
    change_tensors(
        folder, lambda tensors: tensors.update({name: torch.ones(64, 32, dtype=torch.int8)})
    )
    with pytest.raises(UserError, match="type int8, but quantised models cannot be opened"):
        open_model(folder)


def test_a_matrix_under_two_names_has_to_be_one(folder: Path) -> None:
    change_tensors(folder, lambda tensors: tensors.update({_OUTPUT: tensors[_SHARED].clone()}))
    assert open_model(folder).config.shared_embeddings == "all"
    change_tensors(folder, lambda tensors: tensors[_OUTPUT].add_(1.0))
    with pytest.raises(UserError, match=r"and lm_head\.weight differ"):
        open_model(folder)


def test_outputs_apart_with_one_matrix_of_inputs(folder: Path) -> None:
    """As versions of transformers before 5 save it."""
    output = torch.randn(load_file(folder / "model.safetensors")[_SHARED].shape)
    change_tensors(folder, lambda tensors: tensors.update({_OUTPUT: output}))
    change_json(folder / "config.json", tie_word_embeddings=False)
    checkpoint = open_model(folder)
    assert checkpoint.config.shared_embeddings == "inputs"
    assert checkpoint.model.target_embedding is checkpoint.model.source_embedding
    assert torch.equal(checkpoint.model.output_embedding.weight, output)


def test_without_an_output_bias_there_is_none(folder: Path) -> None:
    change_tensors(folder, lambda tensors: tensors.pop("final_logits_bias"))
    assert open_model(folder).model.output_bias is None


@pytest.mark.parametrize("denominator", ["d_model", "d_model-2"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_a_table_that_follows_a_formula_is_known(
    folder: Path, denominator: str, dtype: torch.dtype
) -> None:
    table = sinusoid_table(0, 64, 32, "halves", denominator).to(dtype)
    change_tensors(folder, lambda tensors: tensors.update({_TABLES[1]: table}))
    checkpoint = open_model(folder)
    config = checkpoint.config
    assert (config.positions, config.position_layout) == ("sinusoidal", "halves")
    assert config.position_denominator == denominator
    assert f"follows the denominator {denominator}" in checkpoint.provenance["positions"]
    half = dtype is torch.float16
    assert ("half precision" in checkpoint.provenance["positions"]) == half
    formula = sinusoid_table(0, 300, 32, "halves", denominator).to(dtype).float()
    assert torch.equal(checkpoint.model.positions(0, 300), formula)


def test_a_table_that_follows_none_is_taken_as_it_is(folder: Path) -> None:
    table = torch.randn(64, 32)
    tables = {name: table.clone() for name in _TABLES}
    change_tensors(folder, lambda tensors: tensors.update(tables))
    checkpoint = open_model(folder)
    assert (checkpoint.config.positions, checkpoint.config.max_positions) == ("learned", 64)
    assert torch.equal(checkpoint.model.positions(0, 64), table)
    assert "follows no formula" in checkpoint.provenance["positions"]
    change_tensors(folder, lambda tensors: tensors[_TABLES[1]].add_(1.0))
    with pytest.raises(UserError, match=r"embed_positions\.weight differ"):
        open_model(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "bart"}, "a 'bart' model .* only MarianMT models"),
        ({"architectures": ["MarianForCausalLM"]}, "contains a MarianForCausalLM; only a MarianMT"),
        ({"d_model": None}, "config.json does not state d_model"),
        ({"d_model": "512"}, "says d_model = '512', which is not a whole number"),
        ({"encoder_layers": 3}, r"lacks 16 tensors: model.encoder.layers.2"),
        ({"decoder_layers": 1}, r"has 26 tensors .*: model.decoder.layers.1"),
        ({"encoder_ffn_dim": 32}, "has shape"),
        ({"activation_function": "gelu_new"}, "activation 'gelu_new'; this program supports"),
        ({"eos_token_id": 1}, "eos_token_id = 1, but the vocabulary says 0"),
        ({"vocab_size": 10}, "impossible model: vocab_size = 10"),
        ({"vocab_size": 500}, "the tokenizer has .* pieces, but the model has 500"),
        ({"encoder_attention_heads": 5}, "impossible model: encoder_heads = 5"),
    ],
    ids=str,
)
def test_a_configuration_of_another_model_is_refused(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    change_json(folder / "config.json", **changes)
    with pytest.raises(UserError, match=message):
        open_model(folder)


def test_one_architecture_may_stand_alone(folder: Path) -> None:
    change_json(folder / "config.json", architectures="MarianMTModel")
    assert open_model(folder).config.d_model == 32


@pytest.mark.parametrize(
    "name",
    ["source.spm", "target.spm", "vocab.json", "model.safetensors"],
)
def test_a_file_that_is_missing_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UserError, match=name):
        open_model(folder)


def test_any_file_of_the_folder_stands_for_it(folder: Path) -> None:
    assert open_model(folder / "model.safetensors").config == open_model(folder).config
    assert open_model(folder / "config.json").config == open_model(folder).config


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"contains no model: a MarianMT folder has a config\.json"):
        open_model(tmp_path)
