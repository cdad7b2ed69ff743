"""Traces on disk: `.npz` files that NumPy alone reads and any program can write.

Arrays: ``source_tokens`` [S] and ``target_tokens`` [T] (text), ``encoder_self`` [L, H, S, S],
``decoder_self`` [L, H, T, T], ``cross`` [L, H, T, S]; any may be missing, but some attention is
needed. The map of a head that was pruned has NaN in every cell. Ours add ``predicted_tokens`` [T],
``log_probabilities`` [T], ``text``, ``translation``.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from core.errors import UserError
from core.files import atomic_write
from core.text.tokens import WORD_START, Token, TokenKind
from core.trace.trace import Attention, AttentionKind, StoredAttention, Trace

_ROW_SUM_TOLERANCE = 1e-2
_TOKENS = ("source_tokens", "target_tokens", "predicted_tokens")
_SPECIALS = frozenset({"<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[PAD]", "<bos>", "<eos>"})


def maps_size(trace: Trace) -> tuple[int, int]:
    """How many maps a trace has, and the bytes that they take before compression."""
    maps = size = 0
    for kind in trace.kinds:
        heads = trace.layers(kind) * _width(trace, kind)
        maps += heads
        size += heads * len(trace.query_tokens(kind)) * len(trace.key_tokens(kind)) * 4
    return maps, size


def save_npz(
    trace: Trace, path: str | Path, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write every map of the trace, one at a time: a long text has gigabytes of them.

    Before each map ``progress`` is told how many are done, of how many; what it raises ends the
    writing.

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
    values |= {"text": np.array(trace.text), "translation": np.array(trace.translation)}
    if trace.log_probabilities is not None:
        values["log_probabilities"] = trace.log_probabilities

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in values.items():
                with archive.open(f"{name}.npy", "w") as member:
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
    arrays = _read(path)
    lengths: dict[str, int] = {
        name: len(arrays[name])
        for name in ("source_tokens", "target_tokens")
        if name in arrays and arrays[name].ndim == 1
    }
    attention: dict[AttentionKind, Attention] = {
        kind: _stored(_checked(path, arrays[kind.value], kind, lengths))
        for kind in AttentionKind
        if kind.value in arrays
    }
    if not attention:
        names = ", ".join(kind.value for kind in AttentionKind)
        raise UserError(f"{path} holds no attention: it needs at least one of {names}.")
    for name in ("predicted_tokens", "log_probabilities"):
        if name in arrays and arrays[name].shape != (lengths.get("target_tokens"),):
            raise UserError(f"{path}: {name} must have one entry for each of the target_tokens.")
    log_probabilities = arrays.get("log_probabilities")
    if log_probabilities is not None:
        _require_numbers(path, "log_probabilities", log_probabilities)
        if not (log_probabilities <= 0).all():  # type: ignore[operator]
            raise UserError(f"{path}: log_probabilities has entries above 0 or not a number.")
    return Trace(
        source_tokens=_tokens(arrays.get("source_tokens")),
        target_tokens=_tokens(arrays.get("target_tokens")),
        predicted_tokens=_tokens(arrays.get("predicted_tokens")),
        log_probabilities=(
            None if log_probabilities is None else log_probabilities.astype(np.float32)
        ),
        attention=attention,
        text=str(arrays.get("text", "")),
        translation=str(arrays.get("translation", "")),
    )


def _read(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise ValueError("a single array")
        with file:
            return {name: file[name] for name in file.files}
    except OSError as error:
        raise UserError(f"Could not read {path}: {error.strerror or error}.") from error
    except MemoryError as error:
        raise UserError(f"{path} is too large for the memory of this machine.") from error
    # What zipfile and NumPy raise for damaged, encrypted, pickled and other files.
    except (ValueError, KeyError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is not a trace: NumPy cannot read it as .npz.") from error


def _checked(
    path: Path, maps: NDArray[np.generic], kind: AttentionKind, lengths: dict[str, int]
) -> NDArray[np.float32]:
    queries = "source_tokens" if kind is AttentionKind.ENCODER_SELF else "target_tokens"
    keys = "target_tokens" if kind is AttentionKind.DECODER_SELF else "source_tokens"
    for name in (queries, keys):
        if name not in lengths:
            raise UserError(f"{path}: {kind.value} needs the array {name}, one text a token.")
    expected = (lengths[queries], lengths[keys])
    if maps.ndim != 4 or maps.shape[2:] != expected or 0 in maps.shape:
        raise UserError(
            f"{path}: {kind.value} has shape {list(maps.shape)}; "
            f"expected [layers, heads, {expected[0]}, {expected[1]}]."
        )
    _require_numbers(path, kind.value, maps)
    weights = maps.astype(np.float32)
    present = weights[~_pruned(weights)]  # [heads, Q, K]
    if not (np.isfinite(present).all() and present.size and present.min() >= 0):
        raise UserError(f"{path}: {kind.value} has cells below 0 or not finite.")
    if np.abs(present.sum(axis=-1) - 1).max() > _ROW_SUM_TOLERANCE:
        raise UserError(f"{path}: {kind.value} has rows that do not add up to 1.")
    if kind is AttentionKind.DECODER_SELF and np.triu(present, 1).max() > _ROW_SUM_TOLERANCE:
        raise UserError(
            f"{path}: decoder_self has weight on tokens that come later, which a decoder masks; "
            "give maps without a mask as encoder_self, of source_tokens."
        )
    return weights


def _stored(maps: NDArray[np.float32]) -> StoredAttention:
    pruned = _pruned(maps)
    if not pruned.any():
        return StoredAttention(maps)
    return StoredAttention(maps, tuple(tuple(np.flatnonzero(~row).tolist()) for row in pruned))


def _pruned(maps: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which heads have no number at all, [L, H]."""
    return np.asarray(np.isnan(maps).all(axis=(2, 3)))


def _require_numbers(path: Path, name: str, array: NDArray[np.generic]) -> None:
    if not np.issubdtype(array.dtype, np.floating):
        raise UserError(f"{path}: {name} has type {array.dtype}; expected floating-point numbers.")


def _pieces(tokens: tuple[Token, ...]) -> NDArray[np.str_]:
    return np.array([token.surface or token.piece for token in tokens], dtype=np.str_)


def _tokens(pieces: NDArray[np.generic] | None) -> tuple[Token, ...]:
    if pieces is None:
        return ()
    return tuple(
        Token(piece, kind=TokenKind.SPECIAL if piece in _SPECIALS else TokenKind.PIECE)
        for piece in _marked([str(piece) for piece in pieces])
    )


def _marked(pieces: list[str]) -> list[str]:
    """With SentencePiece's mark where words start. Other programs write Ġ there (byte-level BPE),
    or ## where none starts (WordPiece), or whole words."""
    if any(piece.startswith(WORD_START) for piece in pieces):
        return pieces
    if any(piece.startswith("Ġ") for piece in pieces):
        return [WORD_START + piece[1:] if piece.startswith("Ġ") else piece for piece in pieces]
    return [
        piece if piece in _SPECIALS or piece.startswith("##") else WORD_START + piece
        for piece in pieces
    ]
