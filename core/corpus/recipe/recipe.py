"""What is done to which corpora, as one value read from a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpus.recipe.exchange import Exchange
from core.errors import UserError
from core.fields import from_mapping, require, require_share
from core.files import read_problem

LEXICON = "lexicon"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One corpus and how it is used.

    Attributes:
        data: FILE.tsv, FILE.tmx or SOURCE,TARGET beside the recipe or else below the folder of
            corpora; or "lexicon": the words of the generated corpus, one by one.
        weight: how often each pair is written; of 2.5, half of the pairs stand three times and the
            others twice. Names are exchanged anew in each copy.
        join: for each pair, the chance of another line in which it stands with one or two others.
        exchange: whether the exchanges of the recipe apply.
        text_only: leave out pairs with program markup and web pages: addresses, brackets,
            braces, underscores and the like.
    """

    data: str
    weight: float = 1.0
    join: float = 0.0
    exchange: bool = True
    text_only: bool = True

    def __post_init__(self) -> None:
        require(self.weight > 0, "weight", self.weight, "above 0")
        require_share("join", self.join)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How corpora are prepared for training.

    Attributes:
        sources: what is read, each written to a file of its own.
        held_out: corpora whose source sentences must not be trained on; case, punctuation and
            exchangeable words make no difference.
        exchanges: see ``Exchange``.
        longest: pairs with a side of more words are left out.
        lengths: pairs of which one side has that many times the characters of the other are taken
            for misaligned, where the longer one has 40 or more.
        seed: of all that is drawn.
    """

    sources: tuple[Source, ...]
    held_out: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    longest: int = 60
    lengths: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        require(len(self.sources) > 0, "sources", self.sources, "one or more")
        require(self.longest >= 1, "longest", self.longest, "1 or more")
        require(self.lengths > 1, "lengths", self.lengths, "above 1")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """Raises UserError for an unknown key, a wrong type, or a value that is not allowed."""
        return from_mapping(cls, values)


def read_recipe(path: Path) -> Recipe:
    """Raises UserError if the file cannot be read or holds no recipe."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(read_problem(path, error)) from error
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise UserError(f'{path} must contain {{"sources": [{{…}}, …], …}}.')
    return Recipe.from_dict(values)
