"""Where a folder of another program says that its model comes from, and on which terms."""

from __future__ import annotations

import re
from pathlib import Path

from core.checkpoints.plain_yaml import read_mapping
from core.errors import UserError
from core.remote.cache import read_receipt
from core.remote.hub_cache import origin_of
from core.remote.licences import NOT_STATED, in_words

_FRONT_MATTER = re.compile(rb"---\r?\n(.*?\n)---", re.DOTALL)
_LONGEST = 1 << 16  # bytes of a card that are looked at


def origin(folder: Path) -> dict[str, str]:
    """Return ``source``, ``revision`` and ``licence`` for a model's provenance, as far as they are
    known.

    A download's receipt tells all three. The hub's own cache tells source and revision, and the
    front matter of a model card (README.md), as models of the hub have it, the licence. None of
    them has to be there.
    """
    receipt = read_receipt(folder)
    if receipt is not None:
        about = {
            "source": receipt.source,
            "revision": receipt.revision,
            "licence": receipt.licence,
        }
        return {key: text for key, text in about.items() if text}
    cached = origin_of(folder)
    about = {} if cached is None else {"source": cached[0], "revision": cached[1]}
    licence = _licence_of_card(folder / "README.md")
    return about if licence == NOT_STATED else {**about, "licence": licence}


def _licence_of_card(card: Path) -> str:
    try:
        with card.open("rb") as file:
            front_matter = _FRONT_MATTER.match(file.read(_LONGEST))
        values = read_mapping(front_matter[1], str(card)) if front_matter else {}
    except (OSError, UserError):  # a model is as good without a card
        return NOT_STATED
    return in_words(values.get("license"))
