"""MarianMT folders with random weights, made by `transformers`."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from core.checkpoints.opening import open_model
from core.errors import UserError

ENGLISH = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "A small frog asked his teacher for advice, and he gave none.",
    "She has been waiting here for two hours.",
)
GERMAN = (
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "Das Tier überquerte die Straße nicht, weil sie zu breit war.",
    "Ein kleiner Frosch bat seinen Lehrer um Rat, und er gab keinen.",
    "Sie wartet hier seit zwei Stunden.",
)
SHAPE: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
    "activation_function": "swish",
    "scale_embedding": True,
    "dropout": 0.1,
}


@cache
def sentencepiece_model(lines: tuple[str, ...], size: int) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        model_type="unigram",
        minloglevel=2,
    )
    return model.getvalue()


@cache
def pieces(lines: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Without the special ones."""
    model = sentencepiece.SentencePieceProcessor()
    model.load_from_serialized_proto(sentencepiece_model(lines, size))
    return tuple(model.id_to_piece(id) for id in range(3, model.vocab_size()))


def vocabulary(pieces: tuple[str, ...]) -> dict[str, int]:
    """As OPUS-MT's: end and unknown first, then the pieces in an order of their own, pad last."""
    unique = dict.fromkeys(sorted(pieces))
    return {piece: id for id, piece in enumerate(("</s>", "<unk>", *unique, "<pad>"))}


def save_marian_folder(
    folder: Path,
    *,
    separate: bool = False,
    languages: tuple[str, ...] = (),
    pickled: bool = False,
    sharded: bool = False,
    half: bool = False,
    end_bias: float = 3.0,
    seed: int = 2,
    generation: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Any:
    """Save a random model with its tokenizer, and return it in evaluation mode.

    Args:
        separate: a vocabulary and embeddings of its own for the target.
        languages: tokens such as ``>>deu<<`` in the vocabulary.
        pickled: as ``pytorch_model.bin``, with every name that a shared matrix has.
        sharded: the weights in several files, with an index.
        half: weights in half precision.
        end_bias: of the end token's score; with more, translations end sooner.
        generation: settings for ``generation_config.json``.
        changes: of the configuration.
    """
    from transformers import MarianConfig, MarianMTModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder.mkdir(parents=True, exist_ok=True)
    english, german = pieces(ENGLISH, 120), pieces(GERMAN, 110)
    if separate:
        # Padding has one id on both sides, so the shorter one is filled up.
        size = max(len(english), len(german))
        source, target = (
            vocabulary((*side, *(f"filler{n}" for n in range(size - len(side)))))
            for side in (english, german)
        )
    else:
        source = target = vocabulary((*languages, *english, *german))
    pad = source["<pad>"]
    torch.manual_seed(seed)
    config = MarianConfig(
        **(
            SHAPE
            | {
                "vocab_size": len(source),
                "decoder_vocab_size": len(target),
                "share_encoder_decoder_embeddings": not separate,
                "pad_token_id": pad,
                "decoder_start_token_id": pad,
                "init_std": 0.2,
            }
            | changes
        )
    )
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        model.final_logits_bias.normal_()
        model.final_logits_bias[0, 0] += end_bias
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    model.generation_config.update(
        **{"bad_words_ids": [[pad]], "renormalize_logits": True, "num_beams": 4, "max_length": 40}
        | dict(generation or {}),
    )
    if half:
        model = model.half()
    model.save_pretrained(folder, max_shard_size="60KB" if sharded else "5GB")
    if pickled:
        for one in folder.glob("model*.safetensors*"):
            one.unlink()
        tables = {
            f"model.{stack}.embed_positions.weight": getattr(
                model.model, stack
            ).embed_positions.weight
            for stack in ("encoder", "decoder")
        }
        save_pickled(folder, model.state_dict() | tables, files=2 if sharded else 1)
    save_tokenizer(folder, source, target if separate else None)
    return model.float()


def refusal(path: Path) -> str:
    """The one sentence that is said of what cannot be opened."""
    with pytest.raises(UserError) as raised:
        open_model(path)
    text = str(raised.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def save_pickled(folder: Path, tensors: Mapping[str, torch.Tensor], files: int) -> None:
    name = "pytorch_model.bin"
    if files == 1:
        torch.save(dict(tensors), folder / name)
        return
    shards = [f"pytorch_model-{n + 1:05d}-of-{files:05d}.bin" for n in range(files)]
    where = {tensor: shards[n % files] for n, tensor in enumerate(tensors)}
    for shard in shards:
        held = {tensor: tensors[tensor] for tensor, file in where.items() if file == shard}
        torch.save(held, folder / shard)
    (folder / f"{name}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))


def save_tokenizer(
    folder: Path, source: Mapping[str, int], target: Mapping[str, int] | None
) -> None:
    (folder / "source.spm").write_bytes(sentencepiece_model(ENGLISH, 120))
    (folder / "target.spm").write_bytes(sentencepiece_model(GERMAN, 110))
    (folder / "vocab.json").write_text(json.dumps(source), encoding="utf-8")
    if target is not None:
        (folder / "target_vocab.json").write_text(json.dumps(target), encoding="utf-8")
    about = {
        "source_lang": "eng",
        "target_lang": "deu",
        "separate_vocabs": target is not None,
        "tokenizer_class": "MarianTokenizer",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
