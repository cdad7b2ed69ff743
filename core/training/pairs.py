"""Encoded pairs, packed into flat arrays so that an epoch is cheap to hold and to send.

Legend: n pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int32]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """n sequences of integers; sequence i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Integers
    offsets: Indices  # [n + 1]

    @classmethod
    def pack(cls, sequences: Sequence[Sequence[int]]) -> Ragged:
        lengths = np.fromiter((len(row) for row in sequences), np.int64, len(sequences))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        flat = (value for row in sequences for value in row)
        return cls(np.fromiter(flat, np.int32, int(offsets[-1])), offsets)

    @classmethod
    def concatenate(cls, parts: Sequence[Ragged]) -> Ragged:
        lengths = np.concatenate([part.lengths for part in parts])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return cls(np.concatenate([part.values for part in parts]), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Integers:
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> Indices:
        return np.diff(self.offsets)

    def padded(self, indices: Iterable[int], pad: int) -> npt.NDArray[np.int64]:
        """The chosen sequences as rows [rows, longest], filled up with ``pad``."""
        rows = [self[index] for index in indices]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        result = np.full((len(rows), int(lengths.max(initial=0))), pad, dtype=np.int64)
        result[np.arange(result.shape[1]) < lengths[:, None]] = np.concatenate(rows)
        return result


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """Ids that end with the end token, and glosses as (source position, target piece)."""

    source: Sequence[int]
    target: Sequence[int]
    glosses: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class EncodedPairs:
    """n pairs; gloss j of a pair says that the word at source position ``gloss_positions[j]``
    is translated by a word that begins with piece ``gloss_pieces[j]``.
    """

    source: Ragged
    target: Ragged
    gloss_positions: Ragged
    gloss_pieces: Ragged

    @classmethod
    def pack(cls, pairs: Sequence[EncodedPair]) -> EncodedPairs:
        return cls(
            source=Ragged.pack([pair.source for pair in pairs]),
            target=Ragged.pack([pair.target for pair in pairs]),
            gloss_positions=Ragged.pack([[at for at, _ in pair.glosses] for pair in pairs]),
            gloss_pieces=Ragged.pack([[piece for _, piece in pair.glosses] for pair in pairs]),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[EncodedPairs]) -> EncodedPairs:
        return cls(
            source=Ragged.concatenate([part.source for part in parts]),
            target=Ragged.concatenate([part.target for part in parts]),
            gloss_positions=Ragged.concatenate([part.gloss_positions for part in parts]),
            gloss_pieces=Ragged.concatenate([part.gloss_pieces for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[EncodedPair]:
        for index in range(len(self)):
            positions = self.gloss_positions[index].tolist()
            pieces = self.gloss_pieces[index].tolist()
            yield EncodedPair(
                self.source[index].tolist(),
                self.target[index].tolist(),
                list(zip(positions, pieces, strict=True)),
            )
