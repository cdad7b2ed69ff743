"""What ``special:model.yml`` in a Marian model says of its shape.

Names and meaning are those of Marian's command line and of its ``src/models/transformer.h``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from core.checkpoints.plain_yaml import whole_number
from core.checkpoints.refusal import RefusedError

Options = Mapping[str, Any]
"""As ``core.checkpoints.plain_yaml`` reads them: every value is a text, or a list of texts."""

_ACTIVATIONS = {"relu": "relu", "swish": "silu"}  # its gelu is x σ(1.702 x) in most versions
# Of (transformer-preprocess, transformer-postprocess), dropout left out: a residual sum is "a",
# a norm is "n".
_NORMS = {("", "an"): "post", ("n", "a"): "pre"}
_SHARED = {
    (True, True): "all",
    (True, False): "inputs",
    (False, True): "target",
    (False, False): "none",
}
_DECODERS = {
    "average-attention": "averages over the previous words (average attention, AAN)",
    "rnn": "has a recurrent cell (SSRU or another)",
}


def model_settings(options: Options) -> dict[str, Any]:
    """Return the part of ``ModelConfig`` that the options alone determine.

    Raises:
        RefusedError: the model computes something that ours cannot; says what.
    """
    for reason in _reasons(options):
        raise RefusedError(reason)
    d_ff = number(options, "transformer-dim-ffn")
    heads = number(options, "transformer-heads")
    inputs_shared = is_set(options, "tied-embeddings-src") or is_set(options, "tied-embeddings-all")
    output_shared = is_set(options, "tied-embeddings") or is_set(options, "tied-embeddings-all")
    return {
        "d_model": number(options, "dim-emb"),
        "encoder_layers": number(options, "enc-depth"),
        "decoder_layers": number(options, "dec-depth"),
        "encoder_heads": heads,
        "decoder_heads": heads,
        "encoder_d_ff": d_ff,
        "decoder_d_ff": number(options, "transformer-decoder-dim-ffn", 0) or d_ff,
        "activation": _ACTIVATIONS[text(options, "transformer-ffn-activation")],
        "norm": _NORMS[_order(options)],
        "top_norm": _operations(options, "transformer-postprocess-top") == "n",
        "shared_embeddings": _SHARED[inputs_shared, output_shared],
        "output_bias": not is_set(options, "output-omit-bias"),
    }


def vocabulary_sizes(options: Options) -> tuple[int, int]:
    """Return the number of rows of the source and of the target embedding.

    Raises:
        RefusedError: there are not two.
    """
    written = _value(options, "dim-vocabs")
    sizes = [whole_number(size) for size in written] if isinstance(written, list) else []
    match sizes:
        case [int(source), int(target)]:
            return source, target
    raise RefusedError("its model.yml lacks the sizes of the two vocabularies (dim-vocabs)")


def text(options: Options, name: str, default: str = "") -> str:
    value = _value(options, name)
    return value if isinstance(value, str) else default


def is_set(options: Options, name: str) -> bool:
    return text(options, name).lower() in ("true", "yes", "on", "1")


def number(options: Options, name: str, default: int | None = None) -> int:
    """Return an option as a whole number.

    Raises:
        RefusedError: it is no whole number, or missing without a default.
    """
    value = _value(options, name)
    result = default if value is None else whole_number(value)
    if result is None:
        raise RefusedError(f"its options lack a whole number for {name}")
    return result


def real(options: Options, name: str, default: float) -> float:
    """Return an option as a finite number.

    Raises:
        RefusedError: it is no finite number.
    """
    try:
        value = float(text(options, name, str(default)))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RefusedError(f"its options lack a number for {name}")
    return value


def _value(options: Options, name: str) -> Any:
    """None where it is missing or null."""
    value = options.get(name)
    return None if value in ("~", "null") else value


def _operations(options: Options, name: str) -> str:
    """The letters of what is done there, without dropout: a model at work has none."""
    return text(options, name).replace("d", "")


def _order(options: Options) -> tuple[str, str]:
    before = _operations(options, "transformer-preprocess")
    return before, _operations(options, "transformer-postprocess")


def _reasons(options: Options) -> Iterator[str]:
    """Why our model cannot compute what this one does."""
    yield from _other_architectures(options)
    yield from _other_layers(options)
    yield from _other_embeddings(options)


def _other_architectures(options: Options) -> Iterator[str]:
    kind, sizes = text(options, "type"), _value(options, "dim-vocabs")
    if kind.startswith("multi-") or (isinstance(sizes, list) and len(sizes) > 2):
        yield "it reads several sources at once (multi-source), but this program supports only one"
    if kind != "transformer":
        yield f"its architecture is {kind or 'none'}, not transformer"
    decoder = text(options, "transformer-decoder-autoreg", "self-attention")
    if decoder != "self-attention":
        what = _DECODERS.get(decoder, f"has {decoder!r}")
        yield f"its decoder {what} instead of using self-attention"
    if is_set(options, "right-left"):
        yield "it generates translations from right to left (right-left)"


def _other_layers(options: Options) -> Iterator[str]:
    if _value(options, "transformer-tied-layers"):
        yield "some of its decoder layers are shared (transformer-tied-layers)"
    for flag in ("transformer-no-projection", "transformer-pool"):
        if is_set(options, flag):
            yield f"it uses another kind of attention ({flag})"
    for depth in ("transformer-ffn-depth", "transformer-decoder-ffn-depth"):
        if number(options, depth, 2) not in (0, 2):
            yield f"its feed-forward networks do not have two layers ({depth})"
    activation = text(options, "transformer-ffn-activation", "unnamed one")
    if activation not in _ACTIVATIONS:
        yield (
            f"its activation is Marian's {activation}; this program supports "
            f"{', '.join(_ACTIVATIONS)}"
        )
    before, after = order = _order(options)
    if order not in _NORMS:
        yield (
            "its residual sums and norms have an unsupported order (transformer-preprocess "
            f"{before!r}, transformer-postprocess {after!r})"
        )
    if before and _value(options, "transformer-postprocess-top") is None:
        yield (
            "it is a pre-norm model from a Marian version before 1.10, which did not normalise "
            "the keys and values of self-attention"
        )
    if _operations(options, "transformer-postprocess-top") not in ("", "n"):
        yield "its stacks end with more than a norm (transformer-postprocess-top)"


def _other_embeddings(options: Options) -> Iterator[str]:
    if _operations(options, "transformer-postprocess-emb"):
        yield "its embeddings are normalised (transformer-postprocess-emb)"
    if is_set(options, "ulr"):
        yield "it uses universal language representation embeddings (ulr)"
    for size in ("lemma-dim-emb", "factors-dim-emb"):
        if number(options, size, 0):
            yield f"its vocabulary is factored ({size})"
