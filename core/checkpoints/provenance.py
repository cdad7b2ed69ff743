"""What a model file says of where it comes from, taken as far as it has the form it should have.

The JSON may be of any form: another program wrote it, or somebody edited it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from core.decoding.config import SearchConfig
from core.errors import UserError
from core.fields import LARGEST_WHOLE
from core.text.seen_words import OFTEN

_LONGEST_TRAINED = 100_000  # tokens

Check = Callable[[Any], bool]


class Provenance(NamedTuple):
    """What is known about a model's origin, training and scores.

    Attributes:
        values: the entries of the right form.
        left_out: the names of the others, such as "decoding" or "scores.gold".
    """

    values: dict[str, Any]
    left_out: tuple[str, ...]


def checked(values: object) -> Provenance:
    """Separate the entries that are of the right form from those that are not.

    Entries of unknown names are kept as they are: newer versions may write them.
    """
    if not isinstance(values, Mapping):
        return Provenance({}, ("provenance",))
    kept, left_out = _split(values, _CHECKS)
    for name in ("scores", "training"):
        if name in kept:
            kept[name], wrong = _split(kept[name], _PARTS[name])
            left_out += [f"{name}.{part}" for part in wrong]
    return Provenance(kept, tuple(left_out))


def left_out_note(name: str, left_out: tuple[str, ...]) -> str:
    """A sentence for the user on what ``checked`` left out of the file called ``name``."""
    return (
        f"{name} describes itself with values of the wrong form, which are ignored: "
        f"{', '.join(left_out)}."
    )


def source_language(provenance: Mapping[str, Any]) -> str:
    """Return the code of the language that a model reads; "" if its file does not say.

    Models that this program trains read English.
    """
    if "imported" not in provenance:
        return "en"
    both = provenance.get("languages", ())
    return str(both[0]) if len(both) == 2 else ""


def require_translator(provenance: Mapping[str, Any], name: str) -> None:
    """Raise UserError for a parser, where the German of the generated corpus is asked for."""
    if provenance.get("task") == "parsing":
        raise UserError(
            f"{name} is a parser, so it cannot be measured by translations; choose a model that "
            "translates, or score the trees with `transformer-viz parse --gold`."
        )


def _split(
    values: Mapping[str, Any], checks: Mapping[str, Check]
) -> tuple[dict[str, Any], list[str]]:
    wrong = list(_wrong(values, checks))
    return {name: value for name, value in values.items() if name not in wrong}, wrong


def _wrong(values: Mapping[str, Any], checks: Mapping[str, Check]) -> Iterator[str]:
    for name, value in values.items():
        check = checks.get(name, checks.get("*"))
        if check is not None and not check(value):
            yield name


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_WHOLE


def _number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _fields(**checks: Check) -> Check:
    """A mapping that has all of these, and perhaps others."""
    return lambda value: (
        isinstance(value, Mapping)
        and all(name in value and check(value[name]) for name, check in checks.items())
    )


def _numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_number, value.values()))


def _trained_length(value: Any) -> bool:
    return _whole(value) and value <= _LONGEST_TRAINED


def _decoding(value: Any) -> bool:
    if not _fields(beam=_whole, alpha=_number)(value):
        return False
    try:
        SearchConfig.of_model({"decoding": value})
    except UserError:
        return False
    return True


def _score(value: Any) -> bool:
    """A number or a note on the model, or what a test set gave."""
    if not isinstance(value, Mapping):
        return _number(value) or _text(value)
    return "bleu" not in value or _references(value)


def _rare_words(value: Any) -> bool:
    """Words by how often they were seen, as in {"3": "otter weasel"}."""
    counts = set(map(str, range(1, OFTEN)))
    return isinstance(value, Mapping) and all(
        times in counts and _text(words) for times, words in value.items()
    )


_references = _fields(
    sentences=_whole,
    beam=_whole,
    alpha=_number,
    bleu=_number,
    chrf=_number,
    bleu_signature=_text,
    chrf_signature=_text,
)
_doubts = _fields(threshold=_positive, bad_below=_number, sentences=_whole, corpus=_text)
_pair = _fields(first=_number, second=_number, both=_number)
_head = _optional(_fields(layer=_whole, head=_whole, antecedent=_pair))
_gold = _fields(
    sentences=_whole,
    pairs=_whole,
    beam=_whole,
    alpha=_number,
    exact=_number,
    exact_by_family=_numbers,
    pronoun_forced=_pair,
    pronoun_decoded=_pair,
    encoder_head=_head,
    cross_head=_head,
)

_brackets = _fields(
    **{"sentences": _whole, "failed": _whole, "repaired": _whole},
    **dict.fromkeys(("precision", "recall", "f1", "exact"), _number),
)


def _parsing(value: Any) -> bool:
    """What ``parse --gold`` found, for each part of the gold trees."""
    return _fields(gold=_text, beam=_whole, alpha=_number)(value) and all(
        _brackets(part) for part in value.values() if isinstance(part, Mapping)
    )


_CHECKS: dict[str, Check] = {
    **dict.fromkeys(("command", "imported", "source", "revision", "pruned_from", "task"), _text),
    **dict.fromkeys(("licence", "positions"), _optional(_text)),
    **dict.fromkeys(("seed", "step", "averaged"), _whole),
    **dict.fromkeys(("data", "validation", "languages", "known_words", "labels"), _texts),
    **dict.fromkeys(("scores", "training", "software", "started_from"), _mapping),
    "attribution": lambda value: _text(value) or _texts(value),
    "decoding": _decoding,
    "rare_words": _rare_words,
}
_PARTS: dict[str, dict[str, Check]] = {
    "scores": {
        "gold": _gold,
        "doubts": _doubts,
        "parsing": _parsing,
        "it_head": _optional(_fields(kind=_text, layer=_whole, head=_whole)),
        "*": _score,
    },
    "training": {"max_length": _trained_length},
}
