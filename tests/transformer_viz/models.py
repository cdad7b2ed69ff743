"""A real checkpoint, small and untrained."""

from pathlib import Path
from typing import Any

import torch

from core.checkpoints.native import save_checkpoint
from core.config import ModelConfig
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer

LINES = (
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "My brother bought a new car yesterday, and the dog slept.",
    "Mein Bruder kaufte gestern ein neues Auto, und der Hund schlief.",
)


SHAPE = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_heads": 2,
    "decoder_heads": 4,
    "encoder_d_ff": 32,
    "decoder_d_ff": 32,
}


def save_tiny_model(path: Path, **changes: Any) -> Path:
    """`changes`: of `ModelConfig`, to `SHAPE`."""
    tokenizer = train_tokenizer(LINES, 120)
    model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **(SHAPE | changes)))
    initialise(model, seed=3)
    save_checkpoint(path, model, tokenizer, {"step": 0}, dtype=torch.float16)
    return path
