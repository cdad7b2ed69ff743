"""The pieces of code in docs/traces.md, run as they stand, save what the models computed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
    MarianMTModel,
    MarianTokenizer,
)

from core.heads import AttentionKind
from core.text.tokens import Token, TokenKind
from core.text.words import written
from core.trace.npz import load_npz
from core.trace.trace import Trace
from tests.core.checkpoints.marian_folders import save_marian_folder
from tests.foreign_models import save_bart, save_bert, save_gpt

PAGE = Path(__file__).resolve().parents[1] / "docs" / "traces.md"
PIECES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
TEXT = "The animal slept because it was tired."
BERT, GPT, OPUS = "bert-base-cased", "gpt2", "Helsinki-NLP/opus-mt-en-de"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random models under the names that the page opens, and the traces that it saves of them."""
    folder = tmp_path_factory.mktemp("page")
    save_bert(folder / BERT)
    save_gpt(folder / GPT)
    save_marian_folder(folder / OPUS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for piece in PIECES:
            exec(piece, {})
    return folder


def eager(model: Any, inputs: Any, **more: Any) -> Any:
    with torch.no_grad():
        return model(**inputs, output_attentions=True, **more)


def assert_same(trace: Trace, kind: AttentionKind, expected: tuple[torch.Tensor, ...]) -> None:
    assert trace.layers(kind) == len(expected)
    for layer, maps in enumerate(expected):
        np.testing.assert_array_equal(trace.layer_weights(kind, layer), maps[0].numpy())


def test_the_pieces_are_short(folder: Path) -> None:
    assert sorted(path.name for path in folder.glob("*.npz")) == ["bert.npz", "gpt.npz", "opus.npz"]
    assert max(len(piece.splitlines()) for piece in PIECES[:2]) <= 12
    assert len(PIECES[2].splitlines()) <= 18


def test_an_encoder_alone(folder: Path) -> None:
    trace = load_npz(folder / "bert.npz")
    assert (trace.text, trace.kinds) == (TEXT, (AttentionKind.ENCODER_SELF,))
    first, *words, last = trace.source_tokens
    assert (first.label, last.label) == ("[CLS]", "[SEP]")
    assert {token.kind for token in words} == {TokenKind.PIECE}
    assert written(words) == TEXT.replace(".", " .")
    model = AutoModel.from_pretrained(folder / BERT, attn_implementation="eager")
    inputs = AutoTokenizer.from_pretrained(folder / BERT)(TEXT, return_tensors="pt")
    assert_same(trace, AttentionKind.ENCODER_SELF, eager(model, inputs).attentions)


def test_a_decoder_alone(folder: Path) -> None:
    trace = load_npz(folder / "gpt.npz")
    assert (trace.text, trace.kinds) == (TEXT, (AttentionKind.DECODER_SELF,))
    assert trace.source_tokens == ()
    assert written(trace.target_tokens) == TEXT
    model = AutoModelForCausalLM.from_pretrained(folder / GPT, attn_implementation="eager")
    inputs = AutoTokenizer.from_pretrained(folder / GPT)(TEXT, return_tensors="pt")
    assert_same(trace, AttentionKind.DECODER_SELF, eager(model, inputs).attentions)


def test_both(folder: Path) -> None:
    trace = load_npz(folder / "opus.npz")
    assert (trace.text, trace.kinds) == (TEXT, tuple(AttentionKind))
    assert trace.source_tokens[-1].kind is TokenKind.SPECIAL
    assert trace.target_tokens[0] == Token("<pad>", kind=TokenKind.SPECIAL)
    assert trace.predicted_tokens[:-1] == trace.target_tokens[1:]
    model = MarianMTModel.from_pretrained(folder / OPUS, attn_implementation="eager")
    tokenizer = MarianTokenizer.from_pretrained(folder / OPUS)
    fed = tokenizer.convert_tokens_to_ids([token.piece for token in trace.target_tokens])
    inputs = tokenizer(TEXT, return_tensors="pt")
    result = eager(model, inputs, decoder_input_ids=torch.tensor([fed]))
    assert_same(trace, AttentionKind.ENCODER_SELF, result.encoder_attentions)
    assert_same(trace, AttentionKind.DECODER_SELF, result.decoder_attentions)
    assert_same(trace, AttentionKind.CROSS, result.cross_attentions)


def test_other_models_with_both_take_the_same_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the two names that the page gives for them."""
    save_bart(tmp_path / "bart")
    monkeypatch.chdir(tmp_path)
    assert "`AutoModelForSeq2SeqLM` and `AutoTokenizer`" in PAGE.read_text(encoding="utf-8")
    piece = PIECES[2].replace(OPUS, "bart").replace("MarianMTModel", "AutoModelForSeq2SeqLM")
    exec(piece.replace("MarianTokenizer", "AutoTokenizer"), {})
    trace = load_npz(tmp_path / "opus.npz")
    assert (trace.text, trace.kinds) == (TEXT, tuple(AttentionKind))
    assert written(trace.source_tokens) == TEXT
    assert trace.layer_weights(AttentionKind.ENCODER_SELF, 2).shape[0] == 2
    assert trace.layer_weights(AttentionKind.CROSS, 1).shape[0] == 3
