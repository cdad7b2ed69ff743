"""What comes with the window: sample sentences and the icon; the models are in `core.bundled`."""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

FIRST_TEXT = "The animal didn't cross the street because it was too tired."


@dataclass(frozen=True, slots=True)
class SampleGroup:
    group: str
    sentences: tuple[str, ...]


def samples() -> tuple[SampleGroup, ...]:
    text = (_folder() / "samples.json").read_text(encoding="utf-8")
    return tuple(
        SampleGroup(entry["group"], tuple(entry["sentences"])) for entry in json.loads(text)
    )


def icon() -> Path:
    return _folder() / "icons" / "transformer-viz.svg"


def _folder() -> Path:
    return Path(str(files("resources")))
