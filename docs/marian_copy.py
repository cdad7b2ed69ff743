"""A bundled model as the folder that `transformers` would have saved of the same MarianMT model.

Nothing of what the model computes changes. MarianMT puts all sines of a position before all
cosines, where the paper has them in turn, so the numbers of every vector change places with them.

Legend: D d_model.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from core.bundled import model_path
from core.checkpoints.marian_tensors import parts
from core.checkpoints.native import load_checkpoint
from core.text.sentence_pieces import SentencePieceTokenizer

_FROM_VECTORS = ("query_key_value", "query", "key_value", "inner")  # matrices with D columns
_EMBEDDINGS = "source_embedding"
_WEIGHTS = "model.safetensors"


def save_marian_copy(name: str, folder: Path) -> None:
    """Write the bundled model of this name into `folder`.

    Raises:
        UserError: there is no such model.
        ValueError: it is none of those that MarianMT can be.
    """
    checkpoint = load_checkpoint(model_path(name))
    config, tokenizer = checkpoint.config, checkpoint.tokenizer
    if (config.shared_embeddings, config.norm, config.positions) != ("all", "post", "sinusoidal"):
        raise ValueError(f"{name} has no counterpart among MarianMT models")
    assert isinstance(tokenizer, SentencePieceTokenizer)
    folder.mkdir(parents=True)
    turns = torch.arange(config.d_model)
    order = torch.cat([turns[0::2], turns[1::2]])
    tensors: dict[str, Tensor] = {}
    for ours, theirs in parts(config).items():
        moved = _moved(ours, checkpoint.model.get_parameter(ours).detach(), order)
        tensors |= dict(zip(theirs, moved.chunk(len(theirs)), strict=True))
    save_file({each: tensor.contiguous() for each, tensor in tensors.items()}, folder / _WEIGHTS)
    for file in ("source.spm", "target.spm"):
        (folder / file).write_bytes(tokenizer.model_bytes)
    pieces = (tokenizer.token(id).piece for id in range(tokenizer.vocab_size))
    _write(folder / "vocab.json", {piece: id for id, piece in enumerate(pieces)})
    _write(
        folder / "tokenizer_config.json",
        {"source_lang": "eng", "target_lang": "deu", "separate_vocabs": False},
    )
    _write(
        folder / "config.json",
        {
            "model_type": "marian",
            "architectures": ["MarianMTModel"],
            "vocab_size": config.vocab_size,
            "d_model": config.d_model,
            "encoder_layers": config.encoder_layers,
            "decoder_layers": config.decoder_layers,
            "encoder_attention_heads": config.encoder_heads,
            "decoder_attention_heads": config.decoder_heads,
            "encoder_ffn_dim": config.encoder_d_ff,
            "decoder_ffn_dim": config.decoder_d_ff,
            "activation_function": config.activation,
            "scale_embedding": config.scale_embedding,
            "dropout": config.dropout,
            "pad_token_id": tokenizer.pad_id,
            "eos_token_id": tokenizer.eos_id,
            "decoder_start_token_id": tokenizer.bos_id,
            "num_beams": 4,
        },
    )


def _moved(name: str, tensor: Tensor, order: Tensor) -> Tensor:
    """A parameter whose vectors of D numbers are in another order."""
    module, leaf = name.split(".")[-2:]
    if module == _EMBEDDINGS or (module in _FROM_VECTORS and leaf == "weight"):
        return tensor[:, order]
    return tensor if module in _FROM_VECTORS else tensor[order]


def _write(path: Path, values: dict[str, object]) -> None:
    path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
