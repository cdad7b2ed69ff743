"""MarianMT folders whose vocabularies or settings are damaged or belong to different models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints import assembly
from tests.core.checkpoints.marian_folders import refusal, sentencepiece_model

pytest.importorskip("transformers")


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
    more = {f"more{n}": count + n for n in range(count)}
    path.write_text(json.dumps(vocabulary | more), encoding="utf-8")
    said = refusal(folder)
    assert str(count) in said
    assert str(2 * count) in said


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
    assert f"{name} is not a SentencePiece model" in refusal(folder)


def test_a_segmentation_of_another_model(folder: Path) -> None:
    other = sentencepiece_model(("Кошка спит на окне.", "Собака ждёт у двери."), 40)
    (folder / "source.spm").write_bytes(other)
    assert "the files belong to different models" in refusal(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder_layers": 10**9},
        {"decoder_attention_heads": 10**9},
        {"d_model": 10**12},
        {"d_model": 10**6},
        {"encoder_ffn_dim": 10**6},
        {"decoder_ffn_dim": 10**6},
        {"encoder_ffn_dim": 10**12},
        {"vocab_size": 10**12},
        {"decoder_layers": -1},
        {"decoder_start_token_id": 10**12},
        {"dropout": "much"},
    ],
    ids=str,
)
def test_sizes_beyond_reason_take_no_memory(
    folder: Path, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "uninitialised", lambda _config: pytest.fail("memory was taken"))
    change(folder / "config.json", changes)
    refusal(folder)


def change(path: Path, changes: dict[str, Any]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")


@pytest.mark.parametrize(
    "changes",
    [
        {"bad_words_ids": [5]},
        {"bad_words_ids": [["a"]]},
        {"bad_words_ids": 5},
        {"num_beams": 0},
        {"num_beams": "four"},
        {"num_beams": 1e300},
        {"max_length": 0},
        {"length_penalty": float("nan")},
        {"length_penalty": "long"},
    ],
    ids=str,
)
def test_a_search_that_is_none(folder: Path, changes: dict[str, Any]) -> None:
    change(folder / "generation_config.json", changes)
    assert "generation_config.json" in refusal(folder)
