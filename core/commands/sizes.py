"""What ``info`` says about sizes: parameters by box, the cache, and what a sentence costs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from core.analysis.boxes import Box, boxes
from core.analysis.work import cache_size, cost
from core.config import ModelConfig

MOST_TOKENS = 1_000_000_000
_WORDS = {
    "whole_pass": "whole pass",
    "decoding": "step by step",
    "last_step": "last step",
    "scores": "attention scores",
    "feed_forward": "feed-forward",
}
_HYPHENATED = ("self attention", "cross attention", "feed forward")


def read_tokens(text: str) -> tuple[int, int]:
    """Read N,M, the numbers of source and target tokens.

    Raises:
        ArgumentTypeError: it is not two numbers from 1 to ``MOST_TOKENS``.
    """
    numbers = text.split(",")
    if len(numbers) == 2 and all(one.isascii() and one.strip().isdigit() for one in numbers):
        n, m = map(int, numbers)
        if 1 <= n <= MOST_TOKENS and 1 <= m <= MOST_TOKENS:
            return n, m
    raise argparse.ArgumentTypeError(
        f"{text!r} is not two numbers from 1 to {MOST_TOKENS:,}; write source and target tokens "
        "as in 20,20"
    )


def sizes(config: ModelConfig, tokens: tuple[int, int] | None) -> dict[str, Any]:
    """Return JSON values; what a sentence costs only for given numbers of ``tokens``."""
    cache = cache_size(config)
    return {
        "boxes": boxes(config).to_dict(),
        "cache_bytes": {"target_token": list(cache.own), "source_token": list(cache.cross)},
        **({} if tokens is None else {"cost": cost(config, *tokens)}),
    }


def size_lines(config: ModelConfig, tokens: tuple[int, int] | None) -> list[str]:
    """Return the same as lines for people."""
    lines = ["", f"{'parameters by box':<32}{'number':>14}{'without biases':>18}"]
    for depth, name, box in _rows(boxes(config)):
        tied = f"  the matrix of {_spoken(box.tied_to)}" if box.tied_to else ""
        label = "  " * (depth + 1) + name
        lines.append(f"{label:<32}{box.parameters:>14,}{box.without_biases:>18,}{tied}")
    cache = cache_size(config)
    lines += ["", "key-value cache, in bytes"]
    for side, layers in (("target", cache.own), ("source", cache.cross)):
        parts = f"{len(layers)} layers of {layers[0]:,}"
        if len(set(layers)) > 1:
            parts = "by layer " + " + ".join(f"{one:,}" for one in layers)
        lines.append(f"  {f'for each {side} token':<30}{sum(layers):>14,}  ({parts})")
    return lines if tokens is None else [*lines, *_cost_lines(cost(config, *tokens))]


def _rows(model: Box) -> Iterator[tuple[int, str, Box]]:
    """Depth, name and box of each line. Layers that have the same parameters share one."""
    for box in model.parts:
        yield 0, _spoken(box.name), box
        for _, group in groupby(box.parts, _counts):
            layers = list(group)
            yield 1, _layers(layers), layers[0]
            yield from ((2, _spoken(part.name), part) for part in layers[0].parts)


def _counts(layer: Box) -> list[int]:
    return [count for box in layer.every() for count in (box.weights, box.biases)]


def _layers(layers: list[Box]) -> str:
    first, last = (int(layer.name.rpartition(".")[2]) + 1 for layer in (layers[0], layers[-1]))
    return f"layer {first}" if first == last else f"each of layers {first}–{last}"


def _spoken(name: str) -> str:
    """``decoder.0.cross_attention_residual.norm`` → norm."""
    last = name.rpartition(".")[2].replace("_", " ")
    return last.replace(" ", "-") if last in _HYPHENATED else last


def _cost_lines(found: Mapping[str, Any]) -> list[str]:
    work = found["multiply_adds"]
    last = found["target_tokens"]
    title = f"multiply-adds, {found['source_tokens']:,} source and {last:,} target tokens"
    lines = ["", title, "  " + " " * 18 + "".join(f"{_WORDS[way]:>22}" for way in work)]
    lines += [
        f"  {_WORDS.get(part, part):<18}" + "".join(f"{work[way][part]:>22,}" for way in work)
        for part in work["decoding"]
    ]
    steps, used = found["comparisons"], found["cache_bytes"]
    return [
        *lines,
        "",
        "comparisons of one head of the decoder's self-attention",
        f"  {'at the last step':<30}{steps['last_step']:>22,}",
        f"  {'in all steps':<30}{steps['all_steps']:>22,}",
        f"  {'in all steps without a cache':<30}{steps['all_steps_without_cache']:>22,}",
        "",
        "key-value cache after the last step",
        f"  {'bytes':<30}{used['total']:>22,}",
    ]
