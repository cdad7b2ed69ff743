"""A model of OPUS-MT's shape with random weights, and its copies in two other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tests.benchmarks.figure import UnavailableError

PIECES = 58_101
END, UNKNOWN, PAD = 0, 1, PIECES - 1
_MAX_POSITIONS = 512


def save_opus_folder(folder: Path) -> None:
    """6 + 6 layers, 8 heads, d_model 512, d_ff 2048, 58 101 pieces: 74 million parameters.

    No sentence ends by itself, so that every program decodes as many tokens as it is told to.
    """
    try:
        from transformers import MarianConfig, MarianMTModel
        from transformers.utils import logging
    except ImportError as error:
        raise UnavailableError("the package transformers is missing") from error
    from tests.core.checkpoints.marian_folders import save_tokenizer, vocabulary

    logging.disable_progress_bar()
    torch.manual_seed(1)
    model = MarianMTModel(
        MarianConfig(
            vocab_size=PIECES,
            d_model=512,
            encoder_layers=6,
            decoder_layers=6,
            encoder_attention_heads=8,
            decoder_attention_heads=8,
            encoder_ffn_dim=2048,
            decoder_ffn_dim=2048,
            activation_function="swish",
            scale_embedding=True,
            max_position_embeddings=_MAX_POSITIONS,
            init_std=0.05,
            pad_token_id=PAD,
            decoder_start_token_id=PAD,
            eos_token_id=END,
            forced_eos_token_id=END,
        )
    )
    with torch.no_grad():
        model.final_logits_bias[0, END] = -100.0
    model.generation_config.update(
        bad_words_ids=[[PAD]], renormalize_logits=True, num_beams=4, max_length=_MAX_POSITIONS
    )
    model.save_pretrained(folder)
    save_tokenizer(folder, vocabulary(tuple(f"piece{n}" for n in range(PIECES - 3))), None)


def load_marian(folder: Path) -> Any:
    from transformers import MarianMTModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    return MarianMTModel.from_pretrained(folder).eval()


def save_ctranslate2(marian: Any, folder: Path) -> None:
    """The model in the format of CTranslate2; its pieces are named by their ids."""
    try:
        from ctranslate2.converters.transformers import MarianMTLoader
    except ImportError as error:
        raise UnavailableError("the package ctranslate2 is missing") from error
    loader = MarianMTLoader()
    spec = loader.get_model_spec(marian)
    loader.set_vocabulary(spec, [piece(id) for id in range(PIECES - 1)])  # padding has none
    for name, id in (("eos", END), ("bos", END), ("unk", UNKNOWN), ("decoder_start", END)):
        setattr(spec.config, f"{name}_token", piece(id))
    spec.validate()
    spec.optimize()
    folder.mkdir()
    spec.save(str(folder))


def piece(id: int) -> str:
    return str(id)
