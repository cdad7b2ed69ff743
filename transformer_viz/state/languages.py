"""Languages: what the window calls both sides, and the one that a text asks its model for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QLocale

from transformer_viz.state.session import ModelInfo

_TOKEN = re.compile(r">>([^<>\s]+)<<")


class Sides(NamedTuple):
    source: str
    target: str


TRAINED = Sides("English", "German")
"""Of the models that this program trains."""

PARSED = Sides("English", "Tree")
"""Of the parsers among them."""

UNKNOWN = Sides("Source", "Target")


def sides(model: ModelInfo | None) -> Sides:
    """What a model translates from and to, by name, as far as its file says it."""
    if model is None or "imported" not in model.provenance:
        return PARSED if model is not None and model.tree_labels else TRAINED
    codes = model.provenance.get("languages", ())
    return Sides(*map(language_name, codes)) if len(codes) == 2 else UNKNOWN


def language_name(code: str) -> str:
    """Return "German" for "de", "deu" or "deu_Latn"; a code that Qt does not know stays."""
    language = QLocale.codeToLanguage(code.partition("_")[0])
    known = language not in (QLocale.Language.AnyLanguage, QLocale.Language.C)
    return QLocale.languageToString(language) if known else code


def token_label(token: str) -> str:
    """Return "German · deu" for ">>deu<<"."""
    code = token.strip("<>")
    name = language_name(code)
    return code if name == code else f"{name} · {code}"


def asked_for(text: str) -> str:
    """The token that a text begins with, such as ">>deu<<", or nothing."""
    found = _TOKEN.match(text.lstrip())
    return found[0] if found else ""


def asking_for(token: str, text: str) -> str:
    """The text with this token in front, in place of the one that is there; "" takes it away."""
    asked = asked_for(text)
    rest = text.lstrip().removeprefix(asked).lstrip()
    if token and rest:
        return f"{token} {rest}"
    return rest if asked else text


def like(text: str, other: str) -> str:
    """The text, asking for the language that another one asks for, unless it asks for one."""
    return text if asked_for(text) else asking_for(asked_for(other), text)


def fitted(text: str, languages: Sequence[str], before: Sequence[str], preferred: str) -> str:
    """A text for a model with these language tokens, after one with those `before`.

    It asks for the language that it asked for, else for the `preferred` one, else for the first;
    and for none where the model has none. What a text says that was no token before is left alone.
    """
    asked = asked_for(text)
    if not languages:
        return asking_for("", text) if asked in before else text
    if asked in languages:
        return text
    return asking_for(preferred if preferred in languages else languages[0], text)
