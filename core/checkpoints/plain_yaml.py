"""YAML as Marian writes it."""

from __future__ import annotations

from typing import Any

import yaml

from core.errors import UserError

# Knows no tags, so that nothing a file says is ever made into an object; in C where there is one.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_mapping(content: bytes, origin: str) -> dict[str, Any]:
    """Texts, lists and mappings; every scalar is the text that stands there, for a piece of a
    vocabulary may be called ``no``, ``~`` or ``1``.

    Raises:
        UserError: it is no YAML, or no mapping; ``origin`` names it.
    """
    try:
        mapping = yaml.load(content.decode("utf-8"), Loader=_LOADER)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{origin} is damaged: it cannot be read as YAML.") from error
    if not isinstance(mapping, dict):
        raise UserError(f"{origin} is damaged: it is no list of names with their values.")
    return mapping


def whole_number(value: object) -> int | None:
    """Of up to nine digits; None for everything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return None
