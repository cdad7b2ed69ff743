"""Encoded pairs, in flat arrays so that an epoch is cheap to hold, to send and to map from disk.

Legend: n pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.corpus.ragged import Ragged


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A pair of id lists that end with the end token, with glosses (source position, target
    piece)."""

    source: Sequence[int]
    target: Sequence[int]
    glosses: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class EncodedPairs:
    """A set of n pairs; gloss j of a pair says that the word at source position
    ``gloss_positions[j]`` is translated by a word that begins with piece ``gloss_pieces[j]``."""

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
    def unglossed(cls, source: Ragged, target: Ragged) -> EncodedPairs:
        nothing = Ragged.empty(len(source))
        return cls(source, target, gloss_positions=nothing, gloss_pieces=nothing)

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
