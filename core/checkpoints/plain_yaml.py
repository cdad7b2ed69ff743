"""YAML as Marian writes it."""

from __future__ import annotations

from typing import Any

import yaml

from core.errors import UserError

# Knows no tags, so that nothing a file says is ever made into an object; in C where there is one.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_mapping(content: bytes, origin: str) -> dict[str, Any]:
    """Read texts, lists and mappings from YAML.

    Every scalar is kept as the text it is, because a piece of a vocabulary may be called ``no``,
    ``~`` or ``1``.

    Raises:
        UserError: it is no YAML, or no mapping; ``origin`` names it.
    """
    try:
        mapping = yaml.load(content.decode("utf-8"), Loader=_LOADER)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{origin} is damaged: it cannot be read as YAML.") from error
    if not isinstance(mapping, dict):
        raise UserError(f"{origin} is damaged: it is not a list of names with values.")
    return mapping


def whole_number(value: object) -> int | None:
    """Read a whole number of up to nine digits; None for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return None
