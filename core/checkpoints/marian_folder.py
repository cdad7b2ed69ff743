"""A folder as `transformers` saves a MarianMT model: OPUS-MT's and others.

The files and what they mean follow MarianMTModel and MarianTokenizer there: ``config.json``,
``generation_config.json``, ``model.safetensors`` or ``pytorch_model.bin``, each in one file or in
several with an index, ``source.spm``, ``target.spm``, ``vocab.json`` and, where the target has a
vocabulary of its own, ``target_vocab.json``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.checkpoints.assembly import assemble
from core.checkpoints.marian_tensors import MarianTensors, parts
from core.checkpoints.native import Checkpoint, require_same_size
from core.checkpoints.other_models import (
    TOKENIZER,
    no_tokenizer,
    no_weights,
    refuse_other_model,
)
from core.checkpoints.segmentations import read_segmentation, refuse_swapped, require_fitting
from core.checkpoints.settings import Settings, read_settings
from core.checkpoints.weights import (
    SafetensorsWeights,
    ShardedWeights,
    TorchWeights,
    Weights,
)
from core.config import ModelConfig
from core.errors import UserError
from core.files import is_file, is_there
from core.remote.hub_cache import model_name
from core.text.marian import (
    END,
    PAD,
    UNKNOWN,
    MarianTokenizer,
    marian_tokenizer,
    unused_piece,
)

_NAMED = (PAD, UNKNOWN, END)
_ACTIVATIONS = {"swish": "silu", "silu": "silu", "relu": "relu", "gelu": "gelu"}


def import_marian_folder(path: str | Path) -> Checkpoint:
    """Load the model of a MarianMT folder with its tokenizer, in evaluation mode and float32.

    Raises:
        UserError: a file is missing or damaged, the model is of another kind, or its tensors and
            vocabularies are not exactly those of the model that its configuration describes.
    """
    folder = Path(path)
    settings = read_settings(folder / "config.json")
    _require_marian(settings)
    generation = _optional(folder / "generation_config.json")
    about_tokenizer = _optional(folder / "tokenizer_config.json")
    tokenizer = _tokenizer(folder, settings, about_tokenizer)
    tensors = MarianTensors(
        _weights(folder),
        shared=settings.flag("share_encoder_decoder_embeddings", True),
        tied=settings.flag("tie_word_embeddings", True),
        d_model=settings.whole("d_model"),
        origin=str(folder),
    )
    described = _shape(settings) | _ids(settings, generation, tokenizer) | tensors.settings
    try:
        config = ModelConfig(**described)
    except UserError as error:
        raise UserError(f"{folder} describes an impossible model: {error}") from error
    require_same_size(config, tokenizer, str(folder))
    model = assemble(config, parts(config), tensors, str(folder))
    provenance = {
        "imported": f"MarianMT folder {model_name(folder.resolve())}",
        "positions": tensors.positions_in_words,
        "decoding": _decoding(generation or settings),
        "languages": _languages(about_tokenizer),
    }
    return Checkpoint(model, tokenizer, provenance)


def _optional(path: Path) -> Settings | None:
    return read_settings(path) if is_file(path) else None


def _require_marian(settings: Settings) -> None:
    settings.text("model_type")
    refuse_other_model(settings.path.parent)
    architectures = settings.values.get("architectures") or ["MarianMTModel"]
    named = architectures if isinstance(architectures, list) else [architectures]
    if named != ["MarianMTModel"]:
        raise UserError(
            f"{settings.path.parent} contains a {', '.join(map(str, named))}; only a "
            "MarianMTModel has everything that translation needs."
        )


def _tokenizer(
    folder: Path, settings: Settings, about_tokenizer: Settings | None
) -> MarianTokenizer:
    if not any(is_there(folder / name) for name in TOKENIZER):
        raise no_tokenizer(folder, settings)
    target_file = folder / "target_vocab.json"
    separate = (
        is_file(target_file)
        if about_tokenizer is None
        else about_tokenizer.flag("separate_vocabs", False)
    )
    vocabulary = _vocabulary(folder / "vocab.json")
    target_vocabulary = _vocabulary(target_file) if separate else None
    models = [folder / "source.spm", folder / "target.spm"]
    source, target = (read_segmentation(path) for path in models)
    rows, target_rows = _rows(settings)
    added = _added(folder, about_tokenizer)
    vocabulary = _fitted(vocabulary, added, rows)
    if target_vocabulary is not None:
        target_vocabulary = _fitted(target_vocabulary, added, target_rows)
        refuse_swapped(folder, (source, target), (vocabulary, target_vocabulary))
    require_fitting(models[0], source, vocabulary)
    require_fitting(models[1], target, target_vocabulary or vocabulary)
    start = settings.whole("decoder_start_token_id")
    try:
        tokenizer = marian_tokenizer(source, target, vocabulary, target_vocabulary, start)
    except UserError as error:
        raise UserError(f"{folder}: {error}") from error
    for name, id in (("eos_token_id", tokenizer.eos_id), ("pad_token_id", tokenizer.pad_id)):
        if settings.whole(name) != id:
            raise UserError(
                f"{folder}: config.json says {name} = {settings.whole(name)}, but the vocabulary "
                f"says {id}; the files belong to different models."
            )
    return tokenizer


def _vocabulary(path: Path) -> Mapping[str, int]:
    values = read_settings(path).values
    if not all(type(id) is int for id in values.values()):
        raise UserError(f"{path} does not have a whole number for each piece; it is damaged.")
    return values


def _rows(settings: Settings) -> tuple[int, int]:
    """Of the embeddings of source and target."""
    source = settings.whole("vocab_size")
    shared = settings.flag("share_encoder_decoder_embeddings", True)
    return source, source if shared else settings.whole("decoder_vocab_size")


def _added(folder: Path, about_tokenizer: Settings | None) -> dict[str, int]:
    """The tokens that were added to a finished tokenizer, which vocab.json lacks."""
    stored = _optional(folder / "added_tokens.json")
    added = {} if stored is None else dict(stored.values)
    listed = about_tokenizer and about_tokenizer.values.get("added_tokens_decoder")
    for id, about in listed.items() if isinstance(listed, dict) else ():
        if id.isdecimal() and isinstance(about, dict):
            added[str(about.get("content"))] = int(id)
    return {piece: id for piece, id in added.items() if type(id) is int}


def _fitted(vocabulary: Mapping[str, int], added: Mapping[str, int], rows: int) -> dict[str, int]:
    """A piece for each row of the model, where the vocabulary is about as large.

    Pieces beyond the last row are unknown to the model, which was not made larger for them. Rows
    beyond the last piece are those of added tokens, or padding that makes a matrix faster. What
    differs by more is left to be refused.
    """
    fitted = dict(vocabulary)
    if not rows / 2 < len(fitted) < rows * 2 or any(fitted.get(one, 0) >= rows for one in _NAMED):
        return fitted
    fitted = {piece: id for piece, id in fitted.items() if id < rows}
    taken = set(fitted.values())
    for piece, id in added.items():
        if id < rows and id not in taken and piece not in fitted:
            fitted[piece] = id
            taken.add(id)
    last = max(vocabulary.values(), default=-1)
    return fitted | {unused_piece(id): id for id in range(last + 1, rows) if id not in taken}


def _weights(folder: Path) -> Weights:
    kinds: dict[str, Callable[[Path], Weights]] = {
        "model.safetensors": SafetensorsWeights,
        "pytorch_model.bin": TorchWeights,
    }
    for name, read in kinds.items():
        if is_there(folder / name):
            return read(folder / name)
        if is_there(folder / f"{name}.index.json"):
            return ShardedWeights(folder / f"{name}.index.json", read)
    raise no_weights(folder, kinds, os.listdir(folder))


def _shape(settings: Settings) -> dict[str, Any]:
    activation = settings.text("activation_function")
    if activation not in _ACTIVATIONS:
        raise UserError(
            f"{settings.path} needs the activation {activation!r}; this program supports "
            f"{', '.join(_ACTIVATIONS)}."
        )
    separate = not settings.flag("share_encoder_decoder_embeddings", True)
    return {
        "vocab_size": settings.whole("vocab_size"),
        "target_vocab_size": settings.whole("decoder_vocab_size") if separate else None,
        "d_model": settings.whole("d_model"),
        "encoder_layers": settings.whole("encoder_layers"),
        "decoder_layers": settings.whole("decoder_layers"),
        "encoder_heads": settings.whole("encoder_attention_heads"),
        "decoder_heads": settings.whole("decoder_attention_heads"),
        "encoder_d_ff": settings.whole("encoder_ffn_dim"),
        "decoder_d_ff": settings.whole("decoder_ffn_dim"),
        "activation": _ACTIVATIONS[activation],
        "scale_embedding": settings.flag("scale_embedding", False),
        "dropout": settings.number("dropout", 0.1),
    }


def _ids(
    settings: Settings, generation: Settings | None, tokenizer: MarianTokenizer
) -> dict[str, Any]:
    """The special ids, and those that are never chosen: of rows without a piece, and what
    ``bad_words_ids`` forbids.

    The latter are forbidden before probabilities are taken where ``renormalize_logits`` says so.
    Folders from before that setting meant the same.
    """
    search = generation or settings
    bad = search.values.get("bad_words_ids") or []
    if not isinstance(bad, list) or not all(
        isinstance(words, list) and all(type(id) is int for id in words) for words in bad
    ):
        raise UserError(
            f"{search.path}: bad_words_ids is not a list of lists of ids; the file is damaged."
        )
    forbidden = {words[0] for words in bad if len(words) == 1}
    unchosen = set(tokenizer.target.unused_ids)
    renormalised = search.flag("renormalize_logits", generation is None)
    if not renormalised:
        unchosen |= forbidden
    return {
        "pad_id": tokenizer.pad_id,
        "unk_id": tokenizer.unk_id,
        "bos_id": tokenizer.bos_id,
        "eos_id": tokenizer.eos_id,
        "suppressed_ids": tuple(sorted(forbidden)) if renormalised else (),
        "unchosen_ids": tuple(sorted(unchosen)),
    }


def _decoding(search: Settings) -> dict[str, Any]:
    """For ``SearchConfig.of_model``."""
    decoding: dict[str, Any] = {
        "beam": search.count("num_beams", 1),
        "alpha": search.number("length_penalty", 1.0),
        "penalty": "length",
        "stopping": "exact" if search.values.get("early_stopping") == "never" else "estimate",
    }
    if search.values.get("forced_eos_token_id") is not None:
        decoding["free_end"] = True
    if search.values.get("max_length") is not None:
        longest = search.count("max_length", 0) - 1  # there the begin token counts
        decoding["max_length"] = max(1, longest)
    return decoding


def _languages(about_tokenizer: Settings | None) -> list[str]:
    """Source and target, as far as they are known."""
    said = about_tokenizer.values if about_tokenizer else {}
    both = [said.get(name) for name in ("source_lang", "target_lang")]
    return [one for one in both if isinstance(one, str)]
