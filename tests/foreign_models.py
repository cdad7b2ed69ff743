"""Small random models that are not Marian's, in folders of `transformers`."""

from pathlib import Path

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
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
    pieces = _save_byte_tokenizer(folder)
    torch.manual_seed(1)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=pieces,
            n_positions=64,
            n_embd=24,
            n_layer=2,
            n_head=3,
            initializer_range=0.5,
            bos_token_id=pieces - 1,
            eos_token_id=pieces - 1,
        )
    ).eval()
    model.save_pretrained(folder)
    return model


def save_bart(folder: Path) -> BartForConditionalGeneration:
    """Encoder and decoder, with the tokens of ``save_gpt``."""
    end = _save_byte_tokenizer(folder) - 1
    torch.manual_seed(2)
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=end + 1,
            max_position_embeddings=64,
            d_model=24,
            encoder_layers=3,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=3,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            init_std=0.5,
            **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), end),
            decoder_start_token_id=end,
            forced_eos_token_id=end,
        )
    ).eval()
    model.save_pretrained(folder)
    return model


def _save_byte_tokenizer(folder: Path) -> int:
    """How many pieces it has; the last one ends a text."""
    folder.mkdir(parents=True)
    merges = [("Ġ", "a"), ("Ġ", "w"), ("Ġ", "i"), ("Ġi", "t"), ("T", "h"), ("Th", "e")]
    letters = [chr(code) for code in range(33, 127)]
    pieces = [*letters, "Ġ", *map("".join, merges), "<|endoftext|>"]
    tokenizer = GPT2Tokenizer(vocab={piece: id for id, piece in enumerate(pieces)}, merges=merges)
    tokenizer.save_pretrained(folder)
    return len(pieces)
