from __future__ import annotations

import dataclasses
import json

import pytest
import torch

from core.config import ModelConfig
from core.errors import UserError
from core.model.transformer import Transformer
from core.presets import PRESETS, preset
from core.training.config import RunConfig, TrainingConfig

# Exact for a vocabulary of 37 000: one shared matrix, biases, post-norm without final norms.
PARAMETERS = {
    "base": 63_082_496,
    "big": 214_245_376,
    "big-en-fr": 209_125_376,
    "a-heads-1": 63_082_496,
    "a-heads-4": 63_082_496,
    "a-heads-16": 63_082_496,
    "a-heads-32": 63_082_496,
    "b-dk-16": 55_990_784,
    "b-dk-32": 58_354_688,
    "c-layers-2": 33_656_832,
    "c-layers-4": 48_369_664,
    "c-layers-8": 77_795_328,
    "c-d_model-256": 26_834_944,
    "c-d_model-1024": 163_889_152,
    "c-d_ff-1024": 50_487_296,
    "c-d_ff-4096": 88_272_896,
    "d-dropout-0.0": 63_082_496,
    "d-dropout-0.2": 63_082_496,
    "d-smoothing-0.0": 63_082_496,
    "d-smoothing-0.2": 63_082_496,
    "e-learned": 63_082_496 + 1024 * 512,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_exact_parameters(name: str) -> None:
    with torch.device("meta"):
        assert Transformer(preset(name).model).parameter_count() == PARAMETERS[name]


@pytest.mark.parametrize(
    ("name", "difference"),
    [
        ("no-mask", {"decoder_mask": (False, True)}),
        ("no-positions", {"positions": ("none", "sinusoidal")}),
    ],
)
def test_a_preset_without_a_part_changes_nothing_else(
    name: str, difference: dict[str, tuple[object, object]]
) -> None:
    assert preset(name).differences(preset("plain")) == difference


def test_french_changes_the_pieces_and_the_dropout_of_the_big_model() -> None:
    changes = {"vocab_size": (32_000, 37_000), "dropout": (0.1, 0.3)}
    assert preset("big-en-fr").differences(preset("big")) == changes


@pytest.mark.parametrize(("name", "seconds"), [("base", 0.4), ("big", 1.0)])
def test_checkpoints_are_ten_minutes_apart(name: str, seconds: float) -> None:
    assert preset(name).training.checkpoint_every * seconds == 600


def test_the_rows_of_table_3_change_one_thing() -> None:
    base = preset("base")
    for name in PARAMETERS.keys() - {"base", "big", "big-en-fr"}:
        changed = {
            field
            for part in ("model", "training")
            for field, value in getattr(preset(name), part).to_dict().items()
            if value != getattr(base, part).to_dict()[field]
        }
        kinds = {field.removeprefix("encoder_").removeprefix("decoder_") for field in changed}
        # d_k and d_v are spelled out where the row changes them with d_model.
        assert len(kinds - {"average_last", "d_k", "d_v"}) <= 1, name
    assert preset("d-dropout-0.2").model.dropout == 0.2
    assert preset("d-smoothing-0.2").training.label_smoothing == 0.2
    assert preset("d-smoothing-0.0").training.label_smoothing == 0.0


def test_gloss_is_plain_with_the_gloss_loss() -> None:
    plain, gloss = preset("plain"), preset("gloss")
    assert gloss.model == plain.model
    assert gloss.training.gloss_weight > plain.training.gloss_weight == 0
    assert gloss.training.steps < plain.training.steps
    same = dataclasses.replace(gloss.training, gloss_weight=0.0, steps=plain.training.steps)
    assert same == plain.training


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_survives_json(name: str) -> None:
    config = preset(name)
    assert RunConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(UserError, match="no preset 'huge'; there are: demo, plain"):
        preset("huge")


def test_settings_go_to_the_part_that_has_them() -> None:
    config = preset("tiny").with_settings({"d_model": 16, "steps": 7, "data": ["a.tsv"]})
    assert config.model.d_model == 16
    assert config.training.steps == 7
    assert config.training.data == ("a.tsv",)
    with pytest.raises(UserError, match=r"no setting 'stepz'; choose from: .*steps"):
        preset("tiny").with_settings({"stepz": 7})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps = 0 is not possible; allowed: 1 or more"),
        ({"label_smoothing": 1.0}, "label_smoothing = 1.0"),
        ({"cooldown": -0.1}, "cooldown = -0.1"),
        ({"max_length": 30_000}, "max_length = 30000"),
        ({"average_last": 9}, "average_last = 9 is not possible; allowed: at most keep_check"),
        ({"device": "gpu"}, "device = 'gpu' is not possible; allowed: auto, cpu, cuda"),
        ({"device": "cuda:x"}, "device = 'cuda:x'"),
        ({"precision": "fp8"}, "precision = 'fp8' is not possible; allowed: fp32, bf16"),
        ({"data": []}, "data = "),
        ({"validation": ["grammar"]}, "validation = "),
        ({"clip_norm": 0.0}, "clip_norm = 0.0"),
        ({"threads": 0}, "threads = 0"),
        ({"probes": ["Good.", " "]}, r"probes = \('Good.', ' '\) .*, none empty"),
        ({"probes": ["a"] * 17}, "allowed: up to 16 sentences of up to 300 characters"),
        ({"probes": ["a" * 301]}, "probes = "),
        ({"probe_points": -1}, "probe_points = -1 is not possible; allowed: 0 or more"),
        ({"steps": "many"}, "steps = 'many'"),
        ({"step": 3}, "no setting 'step'"),
    ],
)
def test_impossible_training(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        TrainingConfig.from_dict(changes)


def test_a_configuration_has_exactly_two_parts() -> None:
    model = ModelConfig(vocab_size=100).to_dict()
    with pytest.raises(UserError, match='needs the section "training"'):
        RunConfig.from_dict({"model": model})
    with pytest.raises(UserError, match="remove 'extra'"):
        RunConfig.from_dict({"model": model, "training": {}, "extra": 1})
    assert RunConfig.from_dict({"model": model, "training": {}}).training == TrainingConfig()
