"""Save what a model of `transformers` attends to in one text, for Transformer Viz to show.

    from core.save_trace import save_trace

    save_trace(model, tokenizer, "The animal slept because it was tired.", "animal.npz")

This file stands alone: it needs NumPy and PyTorch, and nothing else of this program, so it can be
copied into a notebook's folder. docs/traces.md describes what it writes.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MORE_TOKENS = 50  # than the source has, for a model that does not say how long its outputs may be
_LENGTHS = ("max_length", "max_new_tokens")


def save_trace(
    model: Any,
    tokenizer: Any,
    text: str,
    file: str | os.PathLike[str],
    *,
    target: str | None = None,
    **generation: Any,
) -> Path:
    """Run the model once on one text, and save the attention of every layer and head.

    The model may be an encoder, a decoder, or both, with or without a head on top. It runs in
    evaluation mode with ``attn_implementation="eager"``, the one implementation that computes
    weights as numbers, and is afterwards set as it was.

    Args:
        model: from `transformers`, on any device and in any floating-point type.
        tokenizer: the one that belongs to the model.
        text: one text; the tokenizer adds its special tokens.
        file: where to save; a name without a suffix gets ``.npz``.
        target: the output to record, for a model with encoder and decoder; by default the one that
            ``model.generate`` finds.
        generation: for ``model.generate``, as in ``num_beams=4`` or ``forced_bos_token_id=…``.

    Returns:
        The file.

    Raises:
        TypeError: ``text`` is not one text, or an argument does not fit the model.
        ValueError: the text has no tokens or too many, or the model gives no attention weights.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be one text, not {type(text).__name__}; save one at a time.")
    both = bool(getattr(model.config, "is_encoder_decoder", False))
    if not both and (target is not None or generation):
        raise TypeError(
            f"{type(model).__name__} has no encoder with a decoder, so it is recorded on the text "
            "itself; leave out target and the options of generate."
        )
    inputs = _encoded(tokenizer, text, _most_tokens(model))
    with _Recording(model) as recording:
        inputs = inputs.to(model.device)
        arrays = (
            _of_both(recording, tokenizer, inputs, target, generation)
            if both
            else _of_one(recording, tokenizer, inputs)
        )
    pieces = {one for name in arrays if name.endswith("_tokens") for one in arrays[name]}
    specials = np.array(sorted(_specials(tokenizer) & pieces), dtype=np.str_)
    arrays |= {"text": text, "special_tokens": specials, "word_mark": _word_mark(tokenizer)}
    return _save(Path(file), arrays)


class _Recording:
    """The model while it records: evaluating, eager, without gradients."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __enter__(self) -> _Recording:
        import torch

        self._training = self.model.training
        self._attention = getattr(self.model.config, "_attn_implementation", "eager")
        self._no_gradients = torch.no_grad()
        self._no_gradients.__enter__()
        self.model.eval()
        self._set("eager")
        return self

    def __exit__(self, *_error: object) -> None:
        self._set(self._attention)
        self.model.train(self._training)
        self._no_gradients.__exit__(None, None, None)

    def _set(self, attention: str | None) -> None:
        if attention is not None and attention != self.model.config._attn_implementation:
            self.model.set_attn_implementation(attention)

    def run(self, **inputs: Any) -> Any:
        return self.model(**inputs, output_attentions=True, return_dict=True)


def _most_tokens(model: Any) -> int:
    """As many as the model has positions; any number where positions are relative."""
    most = getattr(model.config, "max_position_embeddings", None)
    return sys.maxsize if most is None else int(most)


def _encoded(tokenizer: Any, text: str, most: int) -> Any:
    """One row of ids, without padding."""
    inputs = tokenizer(text, return_tensors="pt", padding=False, truncation=False)
    count, most = inputs["input_ids"].shape[-1], min(most, tokenizer.model_max_length)
    if not count:
        raise ValueError("The text has no tokens.")
    if count > most:
        raise ValueError(f"The text has {count:,} tokens, and the model takes {most:,}.")
    return inputs


def _of_one(recording: _Recording, tokenizer: Any, inputs: Any) -> dict[str, Any]:
    """Of an encoder or a decoder alone: a decoder is one where nothing looks ahead."""
    maps = _maps(recording, recording.run(**inputs), "attentions")
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
    if len(pieces) == 1:
        causal = recording.model.can_generate()
    else:
        causal = not np.nan_to_num(np.triu(maps, 1)).any()
    if causal:
        return {"target_tokens": pieces, "decoder_self": maps}
    return {"source_tokens": pieces, "encoder_self": maps}


def _of_both(
    recording: _Recording,
    tokenizer: Any,
    inputs: Any,
    target: str | None,
    generation: Mapping[str, Any],
) -> dict[str, Any]:
    """With the output that the model finds, or with a given one."""
    if target is None:
        fed, predicted = _generated(recording.model, inputs, generation)
    else:
        fed, predicted = _given(recording.model, tokenizer, target)
    result = recording.run(**inputs, decoder_input_ids=fed)
    arrays = {
        "source_tokens": _source_pieces(tokenizer, inputs["input_ids"][0].tolist()),
        "target_tokens": tokenizer.convert_ids_to_tokens(fed[0].tolist()),
        "predicted_tokens": tokenizer.convert_ids_to_tokens(predicted[0].tolist()),
        "encoder_self": _maps(recording, result, "encoder_attentions"),
        "decoder_self": _maps(recording, result, "decoder_attentions"),
        "cross": _maps(recording, result, "cross_attentions"),
    }
    if "logits" in result:
        scores = result.logits[0].float().log_softmax(dim=-1)
        chosen = scores.gather(-1, predicted[0, :, None])[:, 0]
        arrays["log_probabilities"] = chosen.cpu().numpy()
    return arrays


def _generated(model: Any, inputs: Any, generation: Mapping[str, Any]) -> tuple[Any, Any]:
    """What the decoder was fed, and what it predicted; ids of [1, T] both."""
    if not model.can_generate():
        raise ValueError(
            f"{type(model).__name__} has no output to choose tokens by; load the model with "
            "AutoModelForSeq2SeqLM, or give the target."
        )
    options = dict(generation)
    if not any(options.get(name) or _said(model, name) for name in _LENGTHS):
        count = inputs["input_ids"].shape[-1] + _MORE_TOKENS
        options["max_new_tokens"] = min(count, _most_tokens(model) - 1)
    found = model.generate(**inputs, **options)
    ids = getattr(found, "sequences", found)[:1]
    settings = model.generation_config
    ends, padding = _ids(settings.eos_token_id), _ids(settings.pad_token_id)
    count = ids.shape[-1]
    while count > 2 and int(ids[0, count - 1]) in padding - ends:
        count -= 1
    while count > 2 and {int(ids[0, count - 1]), int(ids[0, count - 2])} <= ends:
        count -= 1
    return ids[:, : count - 1], ids[:, 1:count]


def _said(model: Any, name: str) -> bool:
    """Whether the model says how long its outputs may be; 20 is what `transformers` takes else."""
    length = getattr(model.generation_config, name, None)
    return length is not None and length != 20


def _ids(said: int | Sequence[int] | None) -> set[int]:
    if said is None:
        return set()
    return {said} if isinstance(said, int) else set(said)


def _given(model: Any, tokenizer: Any, target: str) -> tuple[Any, Any]:
    """As in training: the decoder is fed the target one place later."""
    inputs = tokenizer(text_target=target, return_tensors="pt", padding=False, truncation=False)
    labels = inputs["input_ids"].to(model.device)
    if not labels.shape[-1]:
        raise ValueError("The target has no tokens.")
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        return model.prepare_decoder_input_ids_from_labels(labels=labels), labels
    fed = labels.roll(1, dims=-1)
    fed[:, 0] = model.config.decoder_start_token_id
    return fed, labels


def _source_pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """``convert_ids_to_tokens`` names those of the target where each side has a vocabulary, as in
    some models of Marian and FSMT; ``encoder`` is the source's there."""
    pieces: list[str] = tokenizer.convert_ids_to_tokens(ids)
    encoder, decoder = (getattr(tokenizer, name, None) for name in ("encoder", "decoder"))
    if not isinstance(encoder, dict) or not isinstance(decoder, dict):
        return pieces
    of_source = {id: piece for piece, id in encoder.items()}
    if of_source == decoder:
        return pieces
    return [of_source.get(id, piece) for id, piece in zip(ids, pieces, strict=True)]


def _maps(recording: _Recording, result: Any, name: str) -> NDArray[np.float32]:
    """[layers, heads, queries, keys]; where a layer has fewer heads, or none, not a number."""
    layers = result.get(name)
    if not layers or all(one is None for one in layers):
        raise ValueError(
            f"{type(recording.model).__name__} gives no {name} of one weight for each pair of "
            'tokens; load the model with attn_implementation="eager".'
        )
    arrays = [None if one is None else one[0].float().cpu().numpy() for one in layers]
    there = [one for one in arrays if one is not None]
    if len({one.shape[1:] for one in there}) > 1:
        raise ValueError(f"The layers of {type(recording.model).__name__} see different tokens.")
    shape = (len(arrays), max(map(len, there)), *there[0].shape[1:])
    maps = np.full(shape, np.nan, dtype=np.float32)
    for layer, one in enumerate(arrays):
        if one is not None:
            maps[layer, : len(one)] = one
    return maps


def _specials(tokenizer: Any) -> set[str]:
    """Language codes and control tokens among them."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    return {*tokenizer.all_special_tokens, *(str(one) for one in added if one.special)}


def _word_mark(tokenizer: Any) -> str:
    """How most of the vocabulary's pieces say where words are; "" where none does."""
    pieces: Iterable[str] = tokenizer.get_vocab()
    counts = dict.fromkeys(("▁", "Ġ", "##", "@@", "</w>"), 0)
    for piece in pieces:
        for mark in counts:
            at_end = mark in ("@@", "</w>")
            counts[mark] += piece.endswith(mark) if at_end else piece.startswith(mark)
    mark = max(counts, key=lambda one: counts[one])
    return mark if counts[mark] else ""


def _save(path: Path, arrays: dict[str, Any]) -> Path:
    """All of it or nothing: what was there stays until the new file is complete."""
    if not path.suffix:
        path = path.with_suffix(".npz")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            np.savez_compressed(file, **arrays)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
