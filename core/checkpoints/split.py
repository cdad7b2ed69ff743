"""What a file was to a model, so that its score is called what it is."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any


class Split(StrEnum):
    TRAINING = "training"
    VALIDATION = "validation"

    @property
    def warning(self) -> str:
        """What the split means for a score on it."""
        if self is Split.TRAINING:
            return "the model was trained on it, so this is not a test score"
        return (
            "it was the validation set in training, so this is a validation score, not a test score"
        )


def split_of(name: str, provenance: Mapping[str, Any]) -> Split | None:
    """Return what a model's provenance says about the file of this name; None if nothing.

    Names are compared, since a model keeps no folders: another file of the same name is taken for
    it, and a copy under another name is not recognised.
    """
    if any(name in spec.split(",") for spec in provenance.get("data", ())):
        return Split.TRAINING
    kept = provenance.get("validation")
    names = _named_in(str(provenance.get("command", ""))) if kept is None else kept
    return Split.VALIDATION if name in names else None


def _named_in(command: str) -> Sequence[str]:
    """The files behind --validation: models of earlier versions keep them there alone."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ()
    names: list[str] = []
    taking = False
    for word in words:
        if word.startswith("--"):
            taking = word == "--validation"
        elif taking:
            names += [part.replace("\\", "/").rpartition("/")[2] for part in word.split(",")]
    return names
