"""The numbers of the By hand view: queries, keys and values, and the examples that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.errors import UserError
from core.switches import Scaling
from core.trace.row_steps import Doubles, RowSteps, attend_row

MOST_TOKENS, MOST_WIDTH = 6, 8
FEWEST_TOKENS = 2
LARGEST = 1e6
_PARTS = ("q", "k", "v")
_MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class Sheet:
    """What was typed.

    Attributes:
        names: of the tokens, one for each key and value.
        asking: which of the tokens have a query, in the order of the rows of `queries`.
        queries: [len(asking), d_k]; keys: [n, d_k]; values: [n, d_v].
        about: what the example shows; "" once a number was changed.
    """

    names: tuple[str, ...]
    asking: tuple[int, ...]
    queries: Doubles
    keys: Doubles
    values: Doubles
    scaled: bool = True
    causal: bool = False
    about: str = ""

    @property
    def width(self) -> int:
        """d_k."""
        return int(self.keys.shape[1])

    @property
    def asking_names(self) -> tuple[str, ...]:
        """The names of the rows."""
        return tuple(self.names[at] for at in self.asking)

    def rows(self) -> list[RowSteps]:
        """What follows from the numbers, for each query."""
        count = len(self.names)
        causal = self.causal and len(self.asking) == count
        scaling = Scaling.ON if self.scaled else Scaling.OFF
        return [
            attend_row(
                query,
                self.keys,
                self.values,
                np.arange(count) <= token if causal else np.ones(count, bool),
                scaling,
            )
            for token, query in zip(self.asking, self.queries, strict=True)
        ]

    def part(self, name: str) -> Doubles:
        """The matrix "q", "k" or "v"."""
        return {"q": self.queries, "k": self.keys, "v": self.values}[name]

    def with_number(self, part: str, row: int, column: int, value: float) -> Sheet:
        """The sheet with another number in one place."""
        matrix = self.part(part).copy()
        matrix[row, column] = value
        return self._with_part(part, matrix)

    def resized(self, tokens: int, width: int) -> Sheet:
        """The sheet with this number of tokens, each with a query, and this d_k; new numbers are
        0."""
        names = [*self.names, *(f"token {at + 1}" for at in range(len(self.names), tokens))]
        queries = np.zeros((len(self.names), self.width))
        queries[list(self.asking)] = self.queries
        return Sheet(
            tuple(names[:tokens]),
            tuple(range(tokens)),
            _fitted(queries, tokens, width),
            _fitted(self.keys, tokens, width),
            _fitted(self.values, tokens, self.values.shape[1]),
            self.scaled,
            self.causal,
        )

    def _with_part(self, part: str, matrix: Doubles) -> Sheet:
        field = {"q": "queries", "k": "keys", "v": "values"}[part]
        return replace(self, **{field: matrix}, about="")  # type: ignore[arg-type]

    def to_tsv(self) -> str:
        """The sheet as lines of tab-separated fields: what a row is ("q", "k", "v"), its token,
        and its numbers."""
        lines = [f"scaled\t{int(self.scaled)}", f"causal\t{int(self.causal)}"]
        for part, matrix in zip(_PARTS, (self.queries, self.keys, self.values), strict=True):
            names = self.asking_names if part == "q" else self.names
            for name, row in zip(names, matrix, strict=True):
                lines.append("\t".join([part, name, *(f"{number:.10g}" for number in row)]))
        return "\n".join(lines) + "\n"


def read_number(text: str) -> float:
    """A number as it is typed, with a point or a comma.

    Raises:
        UserError: it is none, or too large to compute with.
    """
    try:
        value = float(text.strip().replace("−", "-").replace(",", "."))
    except ValueError:
        raise UserError(f"{text.strip()!r} is not a number; type one such as 0.5.") from None
    if not abs(value) <= LARGEST:  # not a number is neither
        raise UserError(f"{text.strip()!r} is too large; the limit is {LARGEST:,.0f}.")
    return value


def read_sheet(text: str) -> Sheet:
    """Read what `Sheet.to_tsv` writes.

    Raises:
        UserError: a line is of another form, or the matrices do not fit together.
    """
    if len(text) > _MOST_CHARACTERS:
        raise UserError("This text is too long for a sheet of numbers.")
    switches = {"scaled": True, "causal": False}
    rows: dict[str, list[tuple[str, list[float]]]] = {part: [] for part in _PARTS}
    for number, line in enumerate(text.splitlines(), start=1):
        kind, *fields = line.split("\t")
        if kind in switches and len(fields) == 1:
            switches[kind] = fields[0] == "1"
        elif kind in rows and len(fields) > 1:
            rows[kind].append((fields[0], [read_number(field) for field in fields[1:]]))
        elif line.strip():
            raise UserError(
                f"Line {number} should begin with q, k or v, then have a token and its numbers, "
                "separated by tabs."
            )
    return _sheet(rows, **switches)


def _sheet(rows: dict[str, list[tuple[str, list[float]]]], *, scaled: bool, causal: bool) -> Sheet:
    names = tuple(name for name, _ in rows["k"])
    if not FEWEST_TOKENS <= len(names) <= MOST_TOKENS:
        raise UserError(f"A sheet has {FEWEST_TOKENS} to {MOST_TOKENS} keys, not {len(names)}.")
    if [name for name, _ in rows["v"]] != list(names):
        raise UserError("Keys and values need the same tokens in the same order.")
    asking = tuple(names.index(name) for name, _ in rows["q"] if name in names)
    if not asking or len(asking) != len(rows["q"]):
        raise UserError("Each query needs a token that has a key.")
    widths = {part: {len(numbers) for _, numbers in rows[part]} for part in _PARTS}
    if widths["q"] != widths["k"] or len(widths["k"]) != 1 or len(widths["v"]) != 1:
        raise UserError("Queries and keys need the same number of dimensions, values among them.")
    if max(*widths["k"], *widths["v"]) > MOST_WIDTH:
        raise UserError(f"A sheet has at most {MOST_WIDTH} dimensions.")
    q, k, v = (np.array([numbers for _, numbers in rows[part]]) for part in _PARTS)
    return Sheet(names, asking, q, k, v, scaled, causal)


def _fitted(matrix: Doubles, rows: int, columns: int) -> Doubles:
    result = np.zeros((rows, columns))
    kept = matrix[:rows, :columns]
    result[: kept.shape[0], : kept.shape[1]] = kept
    return result


def _example(
    about: str,
    names: str,
    asking: Sequence[int],
    queries: Sequence[Sequence[float]],
    keys: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
) -> Sheet:
    q, k, v = (np.array(part, float) for part in (queries, keys, values))
    return Sheet(tuple(names.split()), tuple(asking), q, k, v, about=about)


EXAMPLES = {
    "One query, three keys": _example(
        "One query and three keys in two dimensions: small enough to check with a pencil.",
        "a b c",
        [0],
        [[0, 1]],
        [[1, 0], [0, 1], [1, -1]],
        [[1, 0], [0, 2], [2, 1]],
    ),
    "Why ÷ √d_k": _example(
        "Four tokens with d_k = 8. Switch the scaling off: the rows become far more certain.",
        "The cat is tired",
        range(4),
        [
            [1.0, -0.9, -0.5, -0.7, 0.4, 0.0, 0.9, -0.3],
            [-1.3, 0.7, -0.4, 0.0, 0.5, -0.2, 0.0, 1.0],
            [-0.5, 0.1, -1.2, -0.6, -0.6, 1.4, 1.8, 1.0],
            [1.2, 0.9, 0.6, 0.5, -0.1, -0.9, 0.5, -1.7],
        ],
        [
            [1.4, -0.3, 0.0, -1.6, -0.8, 1.2, -1.7, -0.5],
            [0.4, 1.2, -1.0, 1.1, 0.3, -0.8, -1.1, -0.1],
            [-0.8, 1.5, 0.4, -0.8, -0.4, 1.9, -1.2, 0.3],
            [-1.1, 0.7, -0.6, 1.3, -0.1, -0.8, 1.4, 1.6],
        ],
        [[1, 0], [0, 1], [1, 1], [2, 0]],
    ),
    "The river bank flooded.": _example(
        "The query of “bank” in two dimensions. Turn its arrow: its shadow on a key, times the "
        "length of that key, is the score.",
        "The river bank flooded",
        [2],
        [[1.5, 1.0]],
        [[-0.5, 0.3], [2.0, 0.8], [0.6, -1.2], [0.4, 1.9]],
        [[0, 0], [1, 0], [0.5, 0.5], [0, 1]],
    ),
}
