"""A model's positional encoding as a value, and what can be read off it (paper section 3.5).

Rotary positions, which turn queries and keys, are shown by what they make of one vector.

Legend: n positions, D d_model, k a shift. Columns come in pairs, the sine and the cosine of one
frequency; a pair is a point in the plane, cosine to the right and sine up. NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.trace.trace import Floats

Doubles: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complex128]
Indices: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionTable:
    """What a model adds to its embeddings, and how that came about.

    Attributes:
        values: [n, D]; row p is PE(p). A learned table is here as a whole, sinusoids go on. Of
            rotary positions, it is the vector (1, 0, 1, 0, …) of the width d_k as position p turns
            it, so that columns 2i and 2i + 1 are the cosine and the sine of an angle.
        kind, layout, denominator: as in ``ModelConfig``: positions, position_layout and
            position_denominator.
        trained: the most tokens, the end token among them, that a text had in training; None
            where the model does not say.
    """

    values: Floats
    kind: str = "sinusoidal"
    layout: str = "interleaved"
    denominator: str = "d_model"
    trained: int | None = None

    @property
    def d_model(self) -> int:
        return int(self.values.shape[1])

    @property
    def learned(self) -> bool:
        return self.kind == "learned"

    @property
    def rotary(self) -> bool:
        return self.kind == "rotary"

    @property
    def pairs(self) -> Indices:
        """The columns of each pair, [D/2, 2]: sine, cosine. A learned table is paired like the
        paper's, for want of any order of its own."""
        columns = np.arange(self.d_model)
        if self.rotary:
            return columns.reshape(-1, 2)[:, ::-1]
        halves = self.layout == "halves" and not self.learned
        return columns.reshape(2, -1).T if halves else columns.reshape(-1, 2)

    @property
    def frequencies(self) -> Doubles | None:
        """The radians from one position to the next, [D/2]; None of a learned table."""
        if self.learned:
            return None
        pair = np.arange(self.d_model // 2, dtype=np.float64)
        paper = self.denominator == "d_model"
        exponents = 2 * pair / self.d_model if paper else pair / (self.d_model // 2 - 1)
        frequencies: Doubles = 10000.0**-exponents
        return frequencies

    @property
    def wavelengths(self) -> Doubles | None:
        """The positions per full turn, [D/2]; None of a learned table."""
        frequencies = self.frequencies
        return None if frequencies is None else 2 * np.pi / frequencies

    @property
    def points(self) -> Complexes:
        """Each pair as a point, cosine + i·sine, [n, D/2]. A shift multiplies it by e^(iφ)."""
        sine, cosine = self.pairs.T
        points: Complexes = self.values[:, cosine] + 1j * self.values[:, sine].astype(np.float64)
        return points

    def pair_of(self, column: int) -> tuple[int, str]:
        """The pair that a column belongs to, and its part in it: "sin" or "cos"."""
        pair, part = np.argwhere(self.pairs == column)[0]
        return int(pair), ("sin", "cos")[part]


@dataclass(frozen=True, slots=True)
class Shift:
    """The fit of PE(pos + k) by one rotation R_k of PE(pos), for every position that has a partner.

    Attributes:
        angles: how far R_k turns each pair, [D/2], in radians.
        error: max |R_k PE(pos) - PE(pos + k)| over all positions and columns.
    """

    k: int
    angles: Doubles
    error: float


def similarity(values: Floats, *, cosine: bool = False) -> Floats:
    """The dot product of every two rows, [n, n], or the cosine of the angle between them.

    Of sinusoids the dot product of positions p and q is the sum of cos(ω (p - q)) over the
    frequencies: it depends on the distance alone. A row of zeros has the cosine 0 to any other.
    """
    if cosine:
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        values = np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)
    product: Floats = values @ values.T
    return product


def rotation(angles: Doubles, pairs: Indices) -> Doubles:
    """The matrix [D, D] that turns each pair of columns (sine, cosine), [D/2, 2], by its angle:
    sin(a + φ) = cos φ sin a + sin φ cos a and cos(a + φ) = -sin φ sin a + cos φ cos a.
    """
    sine, cosine = pairs.T
    matrix = np.zeros((pairs.size, pairs.size))
    matrix[sine, sine] = matrix[cosine, cosine] = np.cos(angles)
    matrix[sine, cosine] = np.sin(angles)
    matrix[cosine, sine] = -np.sin(angles)
    return matrix


def shift(points: Complexes, k: int, frequencies: Doubles | None) -> Shift:
    """The rotation R_k that takes each PE(pos) to PE(pos + k), 0 <= k < n.

    Of sinusoids it turns the pair of frequency ω by k·ω, whatever the position. A learned table
    has no such rotation: each pair is then turned by the angle that fits all positions best, in
    least squares, and the error says how far from fixed the shift is.

    Args:
        points, frequencies: of the ``PositionTable``.
    """
    before, after = points[: len(points) - k], points[k:]
    if frequencies is None:
        angles = np.angle(np.einsum("np,np->p", before.conj(), after))
    else:
        angles = k * frequencies
    missed = before * np.exp(1j * angles)  # [n - k, D/2]
    missed -= after
    error = max(float(np.abs(part).max()) for part in (missed.real, missed.imag))
    return Shift(k, angles, error)
