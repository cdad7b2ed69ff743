"""Small random models without encoder or without decoder, in folders of `transformers`."""

from pathlib import Path

import torch
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
)


def save_bert(folder: Path) -> BertModel:
    """An encoder alone, with whole words and two pieces of one in its vocabulary."""
    folder.mkdir(parents=True)
    words = [".", "The", "animal", "because", "it", "slept", "was", "ti", "##red"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    tokenizer = BertTokenizer(
        vocab={piece: id for id, piece in enumerate(pieces)}, do_lower_case=False
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    model = BertModel(
        BertConfig(
            vocab_size=len(pieces),
            hidden_size=24,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=32,
            initializer_range=0.5,
        )
    ).eval()
    model.save_pretrained(folder)
    return model


def save_gpt(folder: Path) -> GPT2LMHeadModel:
    """A decoder alone, with bytes and a few merges of them as its vocabulary."""
    folder.mkdir(parents=True)
    merges = [("Ġ", "a"), ("Ġ", "w"), ("Ġ", "i"), ("Ġi", "t"), ("T", "h"), ("Th", "e")]
    letters = [chr(code) for code in range(33, 127)]
    pieces = [*letters, "Ġ", *map("".join, merges), "<|endoftext|>"]
    tokenizer = GPT2Tokenizer(vocab={piece: id for id, piece in enumerate(pieces)}, merges=merges)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(pieces),
            n_positions=64,
            n_embd=24,
            n_layer=2,
            n_head=3,
            initializer_range=0.5,
            bos_token_id=len(pieces) - 1,
            eos_token_id=len(pieces) - 1,
        )
    ).eval()
    model.save_pretrained(folder)
    return model
