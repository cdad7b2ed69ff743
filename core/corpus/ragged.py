"""Many sequences of integers, lying one after another in flat arrays.

Legend: n sequences, r chosen ones, w the longest of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.signedinteger] | npt.NDArray[np.unsignedinteger]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """A batch of n sequences; sequence i is ``offsets[i]`` up to ``offsets[i + 1]`` of the joined
    segments.

    The arrays may be memory maps; only what is asked for is read. Several segments stand for one
    array without being copied together.
    """

    segments: tuple[Integers, ...]
    offsets: Indices  # [n + 1]

    @classmethod
    def pack(cls, sequences: Sequence[Sequence[int]]) -> Ragged:
        lengths = np.fromiter((len(row) for row in sequences), np.int64, len(sequences))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        flat = (value for row in sequences for value in row)
        return cls((np.fromiter(flat, np.int32, int(offsets[-1])),), offsets)

    @classmethod
    def empty(cls, count: int) -> Ragged:
        """Return ``count`` sequences without values, in no memory."""
        return cls((), np.broadcast_to(np.zeros(1, np.int64), count + 1))

    @classmethod
    def concatenate(cls, parts: Sequence[Ragged]) -> Ragged:
        """The sequences of all parts; values are shared, offsets are new."""
        offsets, total = [np.zeros(1, np.int64)], 0
        for part in parts:
            offsets.append(part.offsets[1:] + total)
            total += int(part.offsets[-1])
        segments = tuple(segment for part in parts for segment in part.segments)
        return cls(segments, np.concatenate(offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Indices:
        return self.gather([index])[0]

    @property
    def lengths(self) -> npt.NDArray[np.int32]:
        return np.diff(self.offsets).astype(np.int32)

    def gather(self, indices: Sequence[int] | Indices) -> tuple[Indices, Indices]:
        """Return the values of the chosen sequences, one after another, and how many each has:
        [r]."""
        chosen = np.asarray(indices, dtype=np.int64)
        starts = self.offsets[chosen]
        lengths = self.offsets[chosen + 1] - starts
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        return self._at(np.arange(total) + np.repeat(starts - ends + lengths, lengths)), lengths

    def padded(self, indices: Sequence[int] | Indices, pad: int) -> Indices:
        """The chosen sequences as rows [r, w], filled up with ``pad``."""
        values, lengths = self.gather(indices)
        result = np.full((len(lengths), int(lengths.max(initial=0))), pad, dtype=np.int64)
        result[np.arange(result.shape[1]) < lengths[:, None]] = values
        return result

    def _at(self, positions: Indices) -> Indices:
        """The values at positions of the joined segments."""
        values = np.empty(len(positions), dtype=np.int64)
        first = 0
        for segment in self.segments:
            inside = (positions >= first) & (positions < first + len(segment))
            values[inside] = segment[positions[inside] - first]
            first += len(segment)
        return values
