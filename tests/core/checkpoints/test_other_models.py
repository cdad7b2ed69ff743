"""Each thing that is no model is told what to do instead."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.checkpoints.kinds import Kind, recognise
from core.checkpoints.opening import open_header, open_model
from core.errors import AS_TRACE, TRACES_PAGE
from core.text.tokens import TokenKind
from tests.core.checkpoints.marian_folders import (
    ENGLISH,
    GERMAN,
    pieces,
    refusal,
    save_marian_folder,
    vocabulary,
)

GUIDE = Path(__file__).resolve().parents[3] / "resources" / "help.md"
REVISION = "c" * 40


def write(folder: Path, **files: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.fixture
def opus(tmp_path: Path) -> Path:
    save_marian_folder(tmp_path / "opus")
    return tmp_path / "opus"


def change(folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((folder / name).read_text(encoding="utf-8"))
    change(values)
    (folder / name).write_text(json.dumps(values), encoding="utf-8")


def test_the_page_that_is_named_is_in_the_guide() -> None:
    assert f"\n### {TRACES_PAGE}\n" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("bert", "BERT"), ("gpt2", "GPT-2"), ("t5", "T5"), ("m2m_100", "M2M-100 or NLLB")],
)
def test_other_models_of_transformers_can_be_seen_as_traces(
    tmp_path: Path, kind: str, name: str
) -> None:
    folder = write(tmp_path / "model", config__json={"model_type": kind})
    for path in (folder, folder / "config.json"):
        said = refusal(path)
        assert f"{folder} contains a '{kind}' model ({name})" in said
        assert said.endswith(f"; {AS_TRACE}.")


def test_an_adapter_is_to_be_merged(tmp_path: Path) -> None:
    base = {"base_model_name_or_path": "Helsinki-NLP/opus-mt-en-de", "peft_type": "LORA"}
    said = refusal(write(tmp_path / "lora", adapter_config__json=base))
    assert "a LoRA adapter, which holds only the changes to a model of Helsinki-NLP/opus" in said
    assert "merge_and_unload()" in said


def test_the_output_of_a_trainer_names_its_last_checkpoint(tmp_path: Path) -> None:
    for step in (500, 1000, 90):
        write(tmp_path / "out" / f"checkpoint-{step}")
    said = refusal(tmp_path / "out")
    last = tmp_path / "out" / "checkpoint-1000"
    assert f"with 3 checkpoints; open one of them, such as {last}." in said


def test_a_fine_tune_without_its_tokenizer(opus: Path) -> None:
    for name in ("source.spm", "target.spm", "vocab.json"):
        (opus / name).unlink()
    change(opus, "config.json", lambda values: values.update(_name_or_path="a/base"))
    said = refusal(opus)
    assert "has a model but no tokenizer" in said
    assert "copy source.spm, target.spm, vocab.json from the base model" in said
    assert "(a/base)" in said


def test_codes_of_subword_nmt(tmp_path: Path) -> None:
    (tmp_path / "source.bpe").write_text("#version: 0.2\nt h\n")
    assert "subword-nmt codes" in refusal(tmp_path / "source.bpe")


def test_weights_without_a_configuration(tmp_path: Path) -> None:
    assert "has weights but no config.json" in refusal(write(tmp_path / "a", model__safetensors=1))


def test_weights_for_another_library(opus: Path) -> None:
    (opus / "model.safetensors").rename(opus / "tf_model.h5")
    assert "weights for TensorFlow only (tf_model.h5)" in refusal(opus)


# The cache of the hub


def in_cache(opus: Path, cache: Path) -> Path:
    folder = cache / "models--Helsinki-NLP--opus-mt-xx-yy"
    shutil.copytree(opus, folder / "snapshots" / REVISION)
    write(folder / "refs")
    (folder / "refs" / "main").write_text(REVISION)
    return folder


def test_a_folder_of_the_cache_opens_its_snapshot(opus: Path, tmp_path: Path) -> None:
    folder = in_cache(opus, tmp_path / "hub")
    inside = folder / "snapshots" / REVISION
    assert recognise(folder) == recognise(inside / "vocab.json") == (Kind.MARIAN_FOLDER, inside)
    about = open_header(folder).provenance
    assert about["imported"] == "MarianMT folder opus-mt-xx-yy"
    assert (about["source"], about["revision"]) == ("Helsinki-NLP/opus-mt-xx-yy", REVISION)
    assert "is the Hugging Face cache with 1 model; open the" in refusal(folder.parent)


# Vocabularies that are larger or smaller than the model


def resized(folder: Path, rows: int) -> None:
    """As ``resize_token_embeddings`` does, with rows that are likely to be chosen."""
    from transformers import MarianMTModel

    model = MarianMTModel.from_pretrained(folder)
    before = model.config.vocab_size
    model.resize_token_embeddings(rows)
    model.final_logits_bias[0, before:] = 50.0
    model.save_pretrained(folder)


def test_a_padded_matrix_opens_and_its_rows_are_never_chosen(opus: Path, tmp_path: Path) -> None:
    from core.decoding.translate import translate

    count = len(json.loads((opus / "vocab.json").read_text(encoding="utf-8")))
    resized(opus, count + 7)
    checkpoint = open_model(opus)
    target = checkpoint.tokenizer.target
    assert (checkpoint.config.vocab_size, target.vocab_size) == (count + 7, count + 7)
    assert set(range(count, count + 7)) <= set(checkpoint.config.unchosen_ids)
    assert target.token(count).kind is TokenKind.SPECIAL
    assert "unused" not in target.decode([count, 5])
    translated = translate(checkpoint.model, checkpoint.tokenizer, [ENGLISH[0]])
    assert "unused" not in str(translated)


@pytest.mark.parametrize("where", ["added_tokens.json", "tokenizer_config.json"])
def test_added_tokens_have_their_names(opus: Path, where: str) -> None:
    count = len(json.loads((opus / "vocab.json").read_text(encoding="utf-8")))
    resized(opus, count + 2)
    if where == "added_tokens.json":
        write(opus, added_tokens__json={"<ent>": count, "<num>": count + 1})
    else:
        added = {str(count): {"content": "<ent>"}, str(count + 1): {"content": "<num>"}}
        change(opus, where, lambda values: values.update(added_tokens_decoder=added))
    target = open_model(opus).tokenizer.target
    assert [target.token(id).piece for id in (count, count + 1)] == ["<ent>", "<num>"]


def test_pieces_beyond_the_matrix_are_unknown(opus: Path) -> None:
    count = len(json.loads((opus / "vocab.json").read_text(encoding="utf-8")))
    change(opus, "vocab.json", lambda values: values.update({"<more>": count, "<most>": count + 1}))
    assert open_model(opus).tokenizer.vocab_size == count


def test_another_vocabulary_is_still_refused(opus: Path) -> None:
    few = vocabulary(pieces(ENGLISH, 120)[:60])
    (opus / "vocab.json").write_text(json.dumps(few), encoding="utf-8")
    assert "belong to different models" in refusal(opus)


# Swapped SentencePiece models


def swap(folder: Path) -> None:
    (folder / "source.spm").rename(folder / "kept")
    (folder / "target.spm").rename(folder / "source.spm")
    (folder / "kept").rename(folder / "target.spm")


@pytest.mark.parametrize("related", [False, True])
def test_swapped_segmentations_are_noticed_where_there_are_two_vocabularies(
    tmp_path: Path, related: bool
) -> None:
    folder = tmp_path / "separate"
    save_marian_folder(folder, separate=True)
    if related:  # more than half of the English pieces are German ones, too
        target = json.loads((folder / "target_vocab.json").read_text(encoding="utf-8"))
        lacking = [piece for piece in pieces(ENGLISH, 120) if piece not in target]
        german = [piece for piece in pieces(GERMAN, 110) if piece not in pieces(ENGLISH, 120)]
        for name, piece in zip(german[: len(german) // 3], lacking, strict=False):
            target[piece] = target.pop(name)
        (folder / "target_vocab.json").write_text(json.dumps(target), encoding="utf-8")
    open_model(folder)
    swap(folder)
    assert "the two files are swapped, so exchange their names" in refusal(folder)
