"""Where a model comes from: data, licence, recipe, scores, software."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from core.corpus.spec import names_of
from core.decoding.config import PARSING as TREE_SEARCH
from core.training.config import PARSING, RunConfig
from core.training.data import data_names, licence

PACKAGES = ("transformer-viz", "torch", "numpy", "sentencepiece", "safetensors", "sacrebleu")


@cache
def software_versions() -> dict[str, str]:
    """Return the versions by package; they are read once, because that takes longer than writing a
    small checkpoint."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def provenance(config: RunConfig, about: Mapping[str, Any], *, step: int) -> dict[str, Any]:
    """Return what a checkpoint of this run says about itself, with file names without folders.

    Args:
        about: what run.json says of the run besides its configuration.
    """
    recipe = config.training.to_dict() | {"data": data_names(config.training)}
    if config.training.start_from is not None:
        recipe["start_from"] = Path(config.training.start_from).name
    files = recipe.pop("validation")
    validation = [name for spec in files for name in names_of(spec)]
    return {
        "data": data_names(config.training),
        **({"validation": validation} if validation else {}),
        "licence": licence(config.training),
        "command": about.get("command", ""),
        **_of_a_parser(config, about),
        **({"started_from": about["started_from"]} if "started_from" in about else {}),
        "seed": config.training.seed,
        "step": step,
        "training": recipe,
        "software": software_versions(),
    }


def _of_a_parser(config: RunConfig, about: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a model file a parser's: its labels, and the paper's search for trees."""
    if config.training.task != PARSING:
        return {}
    search = {name: getattr(TREE_SEARCH, name) for name in ("beam", "alpha", "max_extra")}
    return {"task": PARSING, "labels": list(about.get("labels", ())), "decoding": search}
