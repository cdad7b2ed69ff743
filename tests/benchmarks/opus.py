"""Models as OPUS-MT's with random weights, and their copies in two other programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.benchmarks.figure import UnavailableError

END, UNKNOWN = 0, 1
_MAX_POSITIONS = 512


@dataclass(frozen=True, slots=True)
class Shape:
    """Layers are of each side; d_ff is 4 d_model, and there are 8 heads."""

    name: str
    pieces: int
    d_model: int
    layers: int

    @property
    def pad(self) -> int:
        return self.pieces - 1


OPUS = Shape("OPUS-MT", pieces=58_101, d_model=512, layers=6)  # 74 million parameters
SMALL = Shape("small", pieces=8_001, d_model=256, layers=4)  # 9 million


def save_folder(shape: Shape, folder: Path) -> None:
    """As `save_pretrained` writes it.

    No sentence ends by itself, so that every program decodes as many tokens as it is told to.
    """
    try:
        from transformers import MarianConfig, MarianMTModel
        from transformers.utils import logging
    except ImportError as error:
        raise UnavailableError("the package transformers is missing") from error
    from tests.core.checkpoints.marian_folders import (
        ENGLISH,
        GERMAN,
        pieces,
        save_tokenizer,
        vocabulary,
    )

    logging.disable_progress_bar()
    torch.manual_seed(1)
    model = MarianMTModel(
        MarianConfig(
            vocab_size=shape.pieces,
            d_model=shape.d_model,
            encoder_layers=shape.layers,
            decoder_layers=shape.layers,
            encoder_attention_heads=8,
            decoder_attention_heads=8,
            encoder_ffn_dim=4 * shape.d_model,
            decoder_ffn_dim=4 * shape.d_model,
            activation_function="swish",
            scale_embedding=True,
            max_position_embeddings=_MAX_POSITIONS,
            init_std=0.12,
            pad_token_id=shape.pad,
            decoder_start_token_id=shape.pad,
            eos_token_id=END,
            forced_eos_token_id=END,
        )
    )
    with torch.no_grad():
        model.final_logits_bias[0, END] = -100.0
    model.generation_config.update(
        bad_words_ids=[[shape.pad]], renormalize_logits=True, num_beams=4, max_length=_MAX_POSITIONS
    )
    model.save_pretrained(folder)
    real = {*pieces(ENGLISH, 120), *pieces(GERMAN, 110)}
    fillers = (f"filler{n}" for n in range(shape.pieces - 3 - len(real)))
    save_tokenizer(folder, vocabulary((*real, *fillers)), None)


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
    pieces = marian.config.vocab_size - 1  # padding has none
    loader.set_vocabulary(spec, [piece(id) for id in range(pieces)])
    for name, id in (("eos", END), ("bos", END), ("unk", UNKNOWN), ("decoder_start", END)):
        setattr(spec.config, f"{name}_token", piece(id))
    spec.validate()
    spec.optimize()
    folder.mkdir()
    spec.save(str(folder))


def piece(id: int) -> str:
    return str(id)
