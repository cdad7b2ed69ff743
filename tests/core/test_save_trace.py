"""What is saved of each kind of model of `transformers`, against what they give themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5EncoderModel,
    T5ForConditionalGeneration,
)

from core.save_trace import save_trace
from core.text.tokens import TokenKind
from core.text.words import written
from core.trace.npz import load_npz
from core.trace.padding import padding
from core.trace.trace import AttentionKind, Trace
from tests.core.checkpoints.marian_folders import ENGLISH, GERMAN, save_marian_folder
from tests.foreign_models import save_bart, save_bert, save_gpt

TEXT = "The animal slept because it was tired."
ENCODER, DECODER, CROSS = AttentionKind
T5 = {"vocab_size": 102, "d_model": 24, "d_kv": 6, "d_ff": 32, "num_layers": 2, "num_heads": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save_bert(folder / "bert")
    save_gpt(folder / "gpt")
    save_bart(folder / "bart")
    save_marian_folder(folder / "joint")
    save_marian_folder(folder / "separate", separate=True)
    torch.manual_seed(3)
    T5ForConditionalGeneration(
        T5Config(**T5, decoder_start_token_id=0, eos_token_id=101, pad_token_id=0)
    ).save_pretrained(folder / "t5")
    T5EncoderModel(T5Config(**T5)).save_pretrained(folder / "t5 encoder")
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=102,
            hidden_size=24,
            intermediate_size=32,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    ).save_pretrained(folder / "llama")
    for name in ("t5", "t5 encoder", "llama"):
        AutoTokenizer.from_pretrained(folder / "gpt").save_pretrained(folder / name)
    return folder


def opened(folder: Path, read: Any, **options: Any) -> tuple[Any, Any]:
    return read.from_pretrained(folder, **options), AutoTokenizer.from_pretrained(folder)


def eager(folder: Path, read: Any, **inputs: Any) -> Any:
    model = read.from_pretrained(folder, attn_implementation="eager")
    with torch.no_grad():
        return model(**inputs, output_attentions=True)


def assert_same(trace: Trace, kind: AttentionKind, expected: Any) -> None:
    assert trace.layers(kind) == len(expected)
    for layer, maps in enumerate(expected):
        theirs = maps[0].numpy()
        np.testing.assert_allclose(trace.layer_weights(kind, layer), theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "read", "kind"),
    [
        ("bert", AutoModel, ENCODER),
        ("t5 encoder", T5EncoderModel, ENCODER),
        ("gpt", AutoModel, DECODER),
        ("gpt", AutoModelForCausalLM, DECODER),
        ("llama", AutoModelForCausalLM, DECODER),
    ],
)
def test_one_side(folder: Path, tmp_path: Path, name: str, read: Any, kind: AttentionKind) -> None:
    model, tokenizer = opened(folder / name, read)
    trace = load_npz(save_trace(model, tokenizer, TEXT, tmp_path / "a.npz"))
    assert trace.kinds == (kind,)
    assert trace.text == TEXT
    tokens = trace.source_tokens if kind is ENCODER else trace.target_tokens
    words = [token for token in tokens if token.kind is TokenKind.PIECE]
    assert written(words).replace(" .", ".") == TEXT
    inputs = tokenizer(TEXT, return_tensors="pt")
    assert_same(trace, kind, eager(folder / name, read, **inputs).attentions)


@pytest.mark.parametrize("name", ["bart", "t5", "joint", "separate"])
def test_both_sides_on_what_the_model_finds(folder: Path, tmp_path: Path, name: str) -> None:
    model, tokenizer = opened(folder / name, AutoModelForSeq2SeqLM)
    file = save_trace(model, tokenizer, TEXT, tmp_path / "a", num_beams=2)
    assert file == tmp_path / "a.npz"
    trace = load_npz(file)
    assert trace.kinds == tuple(AttentionKind)
    assert not padding(trace)
    inputs = tokenizer(TEXT, return_tensors="pt")
    longest = {"max_length": len(trace.target_tokens) + 1}
    found = model.generate(**inputs, num_beams=2, **longest)
    count = len(trace.target_tokens)
    result = eager(
        folder / name, AutoModelForSeq2SeqLM, **inputs, decoder_input_ids=found[:, :count]
    )
    assert_same(trace, ENCODER, result.encoder_attentions)
    assert_same(trace, DECODER, result.decoder_attentions)
    assert_same(trace, CROSS, result.cross_attentions)
    scores = result.logits.log_softmax(-1)[0]
    expected = scores.gather(-1, found[0, 1 : count + 1, None])[:, 0]
    np.testing.assert_allclose(trace.log_probabilities, expected, atol=1e-5)
    assert trace.predicted_tokens[:-1] == trace.target_tokens[1:]


@pytest.mark.parametrize("name", ["joint", "separate"])
def test_each_side_of_a_marian_model_has_its_own_pieces(
    folder: Path, tmp_path: Path, name: str
) -> None:
    model, tokenizer = opened(folder / name, AutoModelForSeq2SeqLM)
    file = save_trace(model, tokenizer, ENGLISH[0], tmp_path / "a.npz", target=GERMAN[0])
    trace = load_npz(file)
    assert written(trace.source_tokens) == ENGLISH[0]
    assert trace.translation == GERMAN[0]
    assert trace.target_tokens[0].piece == "<pad>"
    assert [token.kind for token in trace.target_tokens[:2]] == [TokenKind.SPECIAL, TokenKind.PIECE]
    assert trace.predicted_tokens[-1].piece == "</s>"


def test_special_tokens_are_saved_language_codes_among_them(folder: Path, tmp_path: Path) -> None:
    model, tokenizer = opened(folder / "gpt", AutoModelForCausalLM)
    tokenizer.add_special_tokens({"extra_special_tokens": ["eng_Latn", "user:"]})
    model.resize_token_embeddings(len(tokenizer))
    trace = load_npz(save_trace(model, tokenizer, "eng_LatnThe animal", tmp_path / "a.npz"))
    first, second = trace.target_tokens[:2]
    assert (first.piece, first.kind) == ("eng_Latn", TokenKind.SPECIAL)
    assert (second.piece, second.kind) == ("The", TokenKind.PIECE)


def test_a_tokenizer_that_pads_and_cuts_does_neither_here(folder: Path, tmp_path: Path) -> None:
    model, tokenizer = opened(folder / "bert", AutoModel)
    backend = tokenizer.backend_tokenizer
    backend.enable_padding(length=40, pad_id=0, pad_token="[PAD]")
    backend.enable_truncation(4)
    trace = load_npz(save_trace(model, tokenizer, TEXT, tmp_path / "a.npz"))
    assert len(trace.source_tokens) == 11


def test_the_model_is_left_as_it_was(folder: Path, tmp_path: Path) -> None:
    model, tokenizer = opened(folder / "bert", AutoModel, attn_implementation="sdpa")
    model.train()
    one, two = (
        load_npz(save_trace(model, tokenizer, TEXT, tmp_path / name)) for name in ("a", "b")
    )
    assert model.training
    assert model.config._attn_implementation == "sdpa"
    assert torch.is_grad_enabled()
    maps = [trace.layer_weights(ENCODER, 0) for trace in (one, two)]
    assert np.array_equal(*maps), "dropout is off"


def test_half_precision(folder: Path, tmp_path: Path) -> None:
    model, tokenizer = opened(folder / "bert", AutoModel, dtype=torch.bfloat16)
    assert load_npz(save_trace(model, tokenizer, TEXT, tmp_path / "a.npz")).layers(ENCODER) == 3


@pytest.mark.parametrize(
    ("name", "read", "text", "options", "message"),
    [
        ("bert", AutoModel, [TEXT, TEXT], {}, "text must be one text, not list; save one at a"),
        ("gpt", AutoModelForCausalLM, "", {}, "The text has no tokens"),
        ("bert", AutoModel, "The " * 600, {}, "has 602 tokens, and the model takes 512"),
        ("gpt", AutoModelForCausalLM, TEXT, {"target": "a"}, "GPT2LMHeadModel has no encoder"),
        (
            "bart",
            AutoModel,
            TEXT,
            {},
            "BartModel has no output to choose tokens by; load",
        ),
    ],
)
def test_what_does_not_work_is_said(
    folder: Path,
    tmp_path: Path,
    name: str,
    read: Any,
    text: Any,
    options: dict[str, Any],
    message: str,
) -> None:
    model, tokenizer = opened(folder / name, read)
    path = tmp_path / "a.npz"
    path.write_bytes(b"before")
    with pytest.raises((TypeError, ValueError), match=message):
        save_trace(model, tokenizer, text, path, **options)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_model_without_its_head_is_recorded_on_a_given_target(
    folder: Path, tmp_path: Path
) -> None:
    model, tokenizer = opened(folder / "bart", AutoModel)
    trace = load_npz(save_trace(model, tokenizer, TEXT, tmp_path / "a", target="it was"))
    assert trace.log_probabilities is None
    assert trace.translation == "it was"


def test_layers_without_attention_are_absent(folder: Path, tmp_path: Path) -> None:
    """As in models that mix attention with other layers."""
    model, tokenizer = opened(folder / "bert", AutoModel)
    forward = model.forward

    def mixed(**inputs: Any) -> Any:
        result = forward(**inputs)
        first, second, _third = result.attentions
        result["attentions"] = (first, None, second[:, :2])
        return result

    model.forward = mixed
    trace = load_npz(save_trace(model, tokenizer, TEXT, tmp_path / "a.npz"))
    heads = [len(trace.heads(ENCODER, layer)) for layer in range(trace.layers(ENCODER))]
    assert heads == [4, 0, 2]
