"""A smaller model without some heads, with the outputs that gates of 0 give (Michel et al. 2019).

A head goes with its rows of the query, key and value projections and its columns of the output
projection; the bias of the output stays, as it does behind a closed gate.

Legend: H heads, d a head's width, D d_model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from core.errors import UserError
from core.heads import Head
from core.model.attention import CrossAttention, SelfAttention
from core.model.product import store_as_chosen
from core.model.transformer import Transformer


@torch.no_grad()
def prune(model: Transformer, heads: Iterable[Head]) -> Transformer:
    """A copy without these heads, in evaluation mode; those that are left keep their numbers.

    Raises:
        UserError: the model lacks one of the heads, or none would be left.
    """
    config = model.config
    codes = set(config.pruned_heads)
    for head in heads:
        config.require_head(head)
        codes.add(head.code)
    if codes >= {head.code for head in config.every_head()}:
        raise UserError("A model without heads attends to nothing; keep at least one.")
    smaller = Transformer(dataclasses.replace(config, pruned_heads=tuple(sorted(codes))))
    store_as_chosen(smaller)
    smaller.to(model.source_embedding.weight)
    tensors: dict[str, Tensor] = dict(model.named_parameters())
    for name, block in model.named_modules():
        if isinstance(block, SelfAttention | CrossAttention):
            left = smaller.get_submodule(name)
            assert isinstance(left, type(block))
            tensors |= {f"{name}.{key}": value for key, value in _left(block, left.heads)}
    for name, parameter in smaller.named_parameters():
        parameter.copy_(tensors[name])
    return smaller.eval()


def _left(
    block: SelfAttention | CrossAttention, heads: Sequence[int]
) -> Iterator[tuple[str, Tensor]]:
    """Those parameters of the block that have a part for each head, cut to these heads."""
    places = [block.heads.index(head) for head in heads]
    widths = {
        "query_key_value": (block.d_k, block.d_k, block.d_v),
        "query": (block.d_k,),
        "key_value": (block.d_k, block.d_v),
    }
    for name, values in block.named_parameters():
        if name == "output.weight":
            yield name, _rows(values.t(), (block.d_v,), places).t()
        elif name != "output.bias":
            yield name, _rows(values, widths[name.partition(".")[0]], places)


def _rows(values: Tensor, widths: Sequence[int], places: Sequence[int]) -> Tensor:
    """The heads at these places: of [H·d_1 + H·d_2 …, …], as many rows of each width."""
    heads = len(values) // sum(widths)
    parts = torch.split(values, [heads * width for width in widths])
    kept = [
        part.reshape(heads, width, *part.shape[1:])[list(places)].flatten(0, 1)
        for part, width in zip(parts, widths, strict=True)
    ]
    return torch.cat(kept)
