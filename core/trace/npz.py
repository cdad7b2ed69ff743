"""Traces on disk: `.npz` files that NumPy alone reads and any program can write.

Arrays: ``source_tokens`` [S] and ``target_tokens`` [T] (text), ``encoder_self`` [L, H, S, S],
``decoder_self`` [L, H, T, T], ``cross`` [L, H, T, S]; any may be missing, but some attention is
needed. The map of a head that was pruned has NaN in every cell. More may be there:
``predicted_tokens`` [T], ``log_probabilities`` [T], ``text``, ``translation``,
``special_tokens``, which names those of the tokens that are no words, ``word_mark``, how the
tokens say where words are, ``gates``, the heads that were off, scaled or even, and ``switches``,
whether scaling or mask were switched. docs/traces.md shows how other programs write them; arrays of
other names are left alone.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.files import atomic_write
from core.heads import Gate, Head, read_gate, write_gate
from core.npz_file import NpzArrays, open_npz
from core.switches import Switches, read_switches
from core.text.tokens import WORD_START, Token, TokenKind
from core.text.words import written
from core.trace.pieces import WORD_MARKS, located, read_tokens, without_gaps, word_mark
from core.trace.trace import Attention, AttentionKind, StoredAttention, Trace

_ROW_SUM_TOLERANCE = 1e-2
_TOKENS = ("source_tokens", "target_tokens", "predicted_tokens")
_SPECIALS = "special_tokens"
_GATES = "gates"
_SWITCHES = "switches"
_WORD_MARK = "word_mark"


def maps_size(trace: Trace) -> tuple[int, int]:
    """How many maps a trace has, and the bytes that they take before compression."""
    maps = size = 0
    for kind in trace.kinds:
        heads = trace.layers(kind) * _width(trace, kind)
        maps += heads
        size += heads * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) * 4
    return maps, size


def save_npz(
    trace: Trace,
    path: str | Path,
    progress: Callable[[int, int], None] | None = None,
    more: Mapping[str, NDArray[np.generic]] | None = None,
) -> None:
    """Write every map of the trace, one at a time: a long text has gigabytes of them.

    Before each map ``progress`` is told how many are done, of how many; what it raises ends the
    writing.

    Args:
        more: further arrays to write, by name.

    Raises:
        UserError: the file cannot be written.
    """
    total, _bytes = maps_size(trace)
    done = count()

    def tell() -> None:
        if progress is not None:
            progress(next(done), total)

    values: dict[str, NDArray[np.generic]] = {
        name: _pieces(getattr(trace, name)) for name in _TOKENS if getattr(trace, name)
    }
    values[_SPECIALS] = _special_pieces(trace)
    values[_WORD_MARK] = np.array(WORD_START)
    values |= {"text": np.array(trace.text), "translation": np.array(trace.translation)}
    if trace.log_probabilities is not None:
        values["log_probabilities"] = trace.log_probabilities
    if trace.gates:
        values[_GATES] = np.array([write_gate(*gate) for gate in trace.gates.items()])
    if not trace.switches.intact:
        values[_SWITCHES] = np.array(trace.switches.changes())

    values |= more or {}

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in values.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
            for kind in trace.kinds:
                with archive.open(f"{kind.value}.npy", "w", force_zip64=True) as member:
                    _write_maps(trace, kind, member, tell)

    atomic_write(path, write)


def _write_maps(
    trace: Trace, kind: AttentionKind, file: IO[bytes], tell: Callable[[], None]
) -> None:
    """One array [L, H, Q, K] in NumPy's own format; a head that is missing is NaN."""
    layers, heads = trace.layers(kind), _width(trace, kind)
    shape = (layers, heads, len(trace.query_tokens(kind)), len(trace.key_tokens(kind)))
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for layer in range(layers):
        for head in range(heads):
            tell()
            present = head in trace.heads(kind, layer)
            weights = trace.weights(kind, layer, head) if present else np.full(shape[2:], np.nan)
            file.write(weights.astype("<f4", copy=False).tobytes())


def _width(trace: Trace, kind: AttentionKind) -> int:
    """The heads of a layer, as far as any layer has them."""
    return 1 + max(head.head for head in trace.every_head(kind))


def load_npz(path: str | Path) -> Trace:
    """Read a trace of ours or of another program, checked as a whole.

    Raises:
        UserError: unreadable, or an array has the wrong shape, or rows do not add up to 1; the
            sentence names the array.
    """
    path = Path(path)
    with open_npz(path, "a trace") as file:
        kinds = [kind for kind in AttentionKind if kind.value in file.names]
        if not kinds:
            names = ", ".join(kind.value for kind in AttentionKind)
            raise UserError(f"{path} contains no attention; it needs at least one of {names}.")
        _check_shapes(path, file, kinds)
        pieces = {name: _texts(path, file, name) for name in (*_TOKENS, _SPECIALS)}
        switches = _switches(path, file)
        attention: dict[AttentionKind, Attention] = {
            kind: _stored(_maps(path, file, kind, masked=switches.mask)) for kind in kinds
        }
        log_probabilities = _log_probabilities(path, file)
        gates = _gates(path, file)
        text, translation = (_text(path, file, name) for name in ("text", "translation"))
        mark = _word_mark(path, file)
    source, target, predicted = _tokens(pieces, mark, text, translation)
    text = text or written(source or target)
    return Trace(
        source_tokens=located(source, text),
        target_tokens=target,
        predicted_tokens=predicted,
        log_probabilities=log_probabilities,
        attention=attention,
        text=text,
        translation=translation or written(predicted or target),
        gates=gates,
        switches=switches,
    )


def _check_shapes(path: Path, file: NpzArrays, kinds: Sequence[AttentionKind]) -> None:
    """From headers alone, before anything large is read."""
    for kind in kinds:
        queries = "source_tokens" if kind is AttentionKind.ENCODER_SELF else "target_tokens"
        keys = "target_tokens" if kind is AttentionKind.DECODER_SELF else "source_tokens"
        expected = tuple(_count(path, file, name) for name in (queries, keys))
        for name, tokens in zip((queries, keys), expected, strict=True):
            if not tokens:
                raise UserError(
                    f"{path}: {kind.value} needs the array {name}, with one text per token."
                )
        shape, dtype = file.layout(kind.value)
        if len(shape) != 4 or shape[2:] != expected or 0 in shape:
            raise UserError(
                f"{path}: {kind.value} has shape {list(shape)}; expected [layers, heads, "
                f"{expected[0]}, {expected[1]}], from the number of "
                f"{' and '.join(dict.fromkeys((queries, keys)))}."
            )
        _require_numbers(path, kind.value, dtype)
    for name in ("predicted_tokens", "log_probabilities"):
        tokens = _count(path, file, "target_tokens")
        if name in file.names and file.layout(name)[0] != (tokens,):
            raise UserError(f"{path}: {name} must have one entry for each of the target_tokens.")


def _count(path: Path, file: NpzArrays, name: str) -> int:
    """How many texts an array has; 0 where there is none."""
    if name not in file.names:
        return 0
    shape, dtype = file.layout(name)
    if len(shape) != 1 or (shape[0] and not np.issubdtype(dtype, np.str_)):
        raise UserError(
            f"{path}: {name} has shape {list(shape)} and type {dtype}; expected a list of texts, "
            "one per token."
        )
    return shape[0]


def _texts(path: Path, file: NpzArrays, name: str) -> list[str]:
    if not _count(path, file, name):
        return []
    texts: list[str] = file.read(name).tolist()
    return texts


def _text(path: Path, file: NpzArrays, name: str) -> str:
    if name not in file.names:
        return ""
    shape, dtype = file.layout(name)
    if shape or not np.issubdtype(dtype, np.str_):
        raise UserError(f"{path}: {name} has type {dtype}; expected one text.")
    return str(file.read(name))


def _word_mark(path: Path, file: NpzArrays) -> str:
    mark = _text(path, file, _WORD_MARK)
    if mark and mark not in WORD_MARKS:
        raise UserError(
            f"{path}: {_WORD_MARK} is {mark!r}; expected one of {', '.join(WORD_MARKS)}."
        )
    return mark


def _tokens(
    pieces: Mapping[str, list[str]], mark: str, text: str, translation: str
) -> list[tuple[Token, ...]]:
    """Return the tokens of each of ``_TOKENS``.

    Each side is read by what its own pieces show, since an encoder and a decoder may have different
    tokenizers; a side that shows nothing, by what the other shows, and else by its text.
    """
    source, target, predicted = (pieces[name] for name in _TOKENS)
    specials = pieces[_SPECIALS]
    of_source, of_target = (
        mark or word_mark(side, specials) for side in (source, [*target, *predicted])
    )
    marks = (of_source or of_target, *(of_target or of_source,) * 2)
    written_as = (text, *(translation or text * (not source),) * 2)
    return [
        read_tokens(side, specials, its_mark)
        if its_mark or not its_text
        else without_gaps(read_tokens(side, specials), its_text)
        for side, its_mark, its_text in zip(
            (source, target, predicted), marks, written_as, strict=True
        )
    ]


def _gates(path: Path, file: NpzArrays) -> dict[Head, Gate]:
    try:
        return dict(map(read_gate, _texts(path, file, _GATES)))
    except UserError as error:
        raise UserError(f"{path}: {_GATES}: {error}") from error


def _switches(path: Path, file: NpzArrays) -> Switches:
    try:
        return read_switches(tuple(_texts(path, file, _SWITCHES)))
    except UserError as error:
        raise UserError(f"{path}: {_SWITCHES}: {error}") from error


def _log_probabilities(path: Path, file: NpzArrays) -> NDArray[np.float32] | None:
    name = "log_probabilities"
    if name not in file.names:
        return None
    _require_numbers(path, name, file.layout(name)[1])
    numbers = file.read(name).astype(np.float32)
    if not (numbers <= 0).all():
        raise UserError(
            f"{path}: {name} has entries that are above 0 or NaN; log-probabilities are 0 or less."
        )
    return numbers


def _maps(path: Path, file: NpzArrays, kind: AttentionKind, *, masked: bool) -> NDArray[np.float32]:
    """[L, H, Q, K], cell by cell what softmax can give."""
    weights = np.ascontiguousarray(file.read(kind.value), dtype=np.float32)
    pruned = _pruned(weights)
    if pruned.all():
        raise UserError(
            f"{path}: {kind.value} consists of NaN values only; save the model's attention weights."
        )
    for layer, head in np.argwhere(~pruned).tolist():
        _check_map(path, kind, (layer, head), weights[layer, head], masked=masked)
    return weights


def _check_map(
    path: Path,
    kind: AttentionKind,
    head: tuple[int, int],
    weights: NDArray[np.float32],
    *,
    masked: bool,
) -> None:
    def place(*cell: int) -> str:
        return f"{kind.value}[{', '.join(map(str, (*head, *cell)))}]"

    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        query, key = np.argwhere(wrong)[0].tolist()
        raise UserError(
            f"{path}: {kind.value} has values that are negative or not finite, such as at "
            f"{place(query, key)}, {weights[query, key]:g}; save what softmax returned."
        )
    sums = weights.sum(axis=-1)
    query = int(np.abs(sums - 1).argmax())
    if abs(sums[query] - 1) > _ROW_SUM_TOLERANCE:
        raise UserError(
            f"{path}: {kind.value} has rows that do not add up to 1, such as {place(query)}, "
            f"{sums[query]:g}; save what softmax returned, without dropout and without padding."
        )
    causal = kind is AttentionKind.DECODER_SELF and masked
    if causal and np.triu(weights, 1).max() > _ROW_SUM_TOLERANCE:
        raise UserError(
            f"{path}: decoder_self has weight on later tokens, which a decoder masks; save one "
            "text without padding, or save maps without a mask as encoder_self with "
            "source_tokens."
        )


def _stored(maps: NDArray[np.float32]) -> StoredAttention:
    pruned = _pruned(maps)
    if not pruned.any():
        return StoredAttention(maps)
    return StoredAttention(maps, tuple(tuple(np.flatnonzero(~row).tolist()) for row in pruned))


def _pruned(maps: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which heads have no number at all, [L, H]."""
    return np.asarray(np.isnan(maps).all(axis=(2, 3)))


def _require_numbers(path: Path, name: str, dtype: np.dtype[Any]) -> None:
    if not np.issubdtype(dtype, np.floating):
        raise UserError(f"{path}: {name} has type {dtype}; expected floating-point numbers.")


def _special_pieces(trace: Trace) -> NDArray[np.str_]:
    tokens = (*trace.source_tokens, *trace.target_tokens, *trace.predicted_tokens)
    pieces = {token.piece for token in tokens if token.kind is TokenKind.SPECIAL}
    return np.array(sorted(pieces), dtype=np.str_)


def _pieces(tokens: tuple[Token, ...]) -> NDArray[np.str_]:
    return np.array([token.surface or token.piece for token in tokens], dtype=np.str_)
