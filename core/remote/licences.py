"""Licences as cards of models name them."""

from __future__ import annotations

NOT_STATED = "not stated"

_NAMES = {
    "apache-2.0": "Apache 2.0",
    "cc-by-4.0": "CC BY 4.0",
    "cc-by-nc-4.0": "CC BY-NC 4.0",
    "cc-by-nc-sa-4.0": "CC BY-NC-SA 4.0",
    "cc-by-sa-4.0": "CC BY-SA 4.0",
    "cc0-1.0": "CC0 1.0",
    "mit": "MIT",
}


def in_words(said: object) -> str:
    """Return the name of one licence identifier or of a list of them; unknown ones stay as they
    are."""
    names = said if isinstance(said, list) else [said]
    return ", ".join(_NAMES.get(str(name), str(name)) for name in names if name) or NOT_STATED
