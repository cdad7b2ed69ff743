"""Lessons: Markdown files whose steps do something in the window and ask before they tell.

A lesson begins with a front matter, lines of ``key: value`` between two lines ``---``. Each heading
of the second level begins a step; what stands before the first one is the introduction. A fenced
block ``do`` holds what the step does, one ``key: value`` in each line; a fenced block ``ask`` holds
its question. All of it is data: nothing is executed, and nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.files import read_regular
from core.heads import Head, read_head
from core.lessons.measures import Measure, measures_in
from core.lessons.question import Question, read_question
from core.switches import Scaling, Switches

LARGEST = 1_000_000  # bytes
VIEWS = (
    *("heatmap", "links", "scores", "positions", "decoding", "compare", "reach"),
    *("ablation", "architecture", "stream", "by_hand", "paper", "layers", "tree"),
)
EXAMPLES = ("One query, three keys", "Why ÷ √d_k", "The river bank flooded.")
PARTS = ("source", "translation", "heads", "views", "inspector", "models", "samples")
_FRONT = ("title", "about", "model", "minutes")
_FENCE = re.compile(r"^```\s*(\w*)\s*$")


@dataclass(frozen=True, slots=True)
class Pin:
    """A row of the map and, if it is named, the column in it, both by their words."""

    query: str
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What a step does in the window; None leaves a thing as it is.

    Attributes:
        model: a bundled model by its name, or the path of a file.
        off, even: heads that are off, and heads that attend evenly; with either one, or with
            ``all_on``, every other head is on.
        example: of the By hand view, one of ``EXAMPLES``.
        scaling, mask: how the scaling and the decoder's mask of the whole model are switched.
        point: the part of the window that is framed, one of ``PARTS``.
    """

    model: str | None = None
    text: str | None = None
    view: str | None = None
    head: Head | None = None
    pin: Pin | None = None
    off: tuple[Head, ...] = ()
    even: tuple[Head, ...] = ()
    all_on: bool = False
    example: str | None = None
    scaling: Scaling | None = None
    mask: bool | None = None
    point: str | None = None

    def switched(self, before: Switches) -> Switches:
        """Return the switches of the model after this step."""
        scaling = before.scaling if self.scaling is None else self.scaling
        return Switches(scaling=scaling, mask=before.mask if self.mask is None else self.mask)


@dataclass(frozen=True, slots=True)
class Step:
    """One page of a lesson.

    Attributes:
        line: where it begins in the file, from 1.
        text: Markdown; ``{measure}`` stands for what it is at that moment.
        measures: those in the text and in the reason of the answer, by their words.
    """

    line: int
    title: str
    text: str
    doing: Doing
    question: Question | None = None
    measures: Mapping[str, Measure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson as its file describes it."""

    path: Path
    title: str
    about: str
    minutes: int | None
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """What the command line calls it: its file's name, without a number in front."""
        return re.sub(r"^\d+-", "", self.path.stem)


def read_lesson(path: Path) -> Lesson:
    """Read a lesson.

    Raises:
        UserError: the file cannot be read, or a line of it cannot be understood.
    """
    try:
        text = read_regular(path, most=LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8; save it as UTF-8.") from error
    return parse_lesson(text, path)


def parse_lesson(text: str, path: Path) -> Lesson:
    """Parse the text of a lesson; raises UserError with the line that cannot be understood."""
    lines = text.replace("\r\n", "\n").split("\n")
    front, start = _front_matter(lines, path)
    drafts = _drafts(lines, start, front["title"], path)
    steps = tuple(_step(draft, front.get("model"), path) for draft in drafts)
    return Lesson(path, front["title"], front.get("about", ""), _minutes(front, path), steps)


def fail(path: Path, line: int, what: str) -> UserError:
    """Return the error for a line of a lesson."""
    return UserError(f"{path}, line {line:,}: {what}")


def _front_matter(lines: list[str], path: Path) -> tuple[dict[str, str], int]:
    if lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        raise fail(
            path, 1, "a lesson begins with its title between two lines of three dashes: ---."
        )
    end = [line.strip() for line in lines].index("---", 1)
    front: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], start=2):
        if line.strip():
            key, value = _pair(line, number, path)
            if key not in _FRONT:
                known = ", ".join(_FRONT)
                raise fail(path, number, f"the front matter has no {key!r}; it has: {known}.")
            front[key] = value
    if not front.get("title"):
        raise fail(path, 1, "the front matter needs a title: a line such as “title: …”.")
    return front, end + 1


def _minutes(front: Mapping[str, str], path: Path) -> int | None:
    text = front.get("minutes")
    if text is not None and not (text.isdecimal() and len(text) < 4):
        raise fail(path, 1, f"minutes is a whole number, not {text!r}.")
    return int(text) if text else None


def _pair(line: str, number: int, path: Path) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon or not value.strip():
        raise fail(path, number, f"expected “key: value”, not {line.strip()!r}.")
    return key.strip(), value.strip()


@dataclass(slots=True)
class _Draft:
    """A step while its lines are being read."""

    line: int
    title: str
    prose: list[str] = field(default_factory=list)
    do: list[tuple[int, str]] = field(default_factory=list)
    ask: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.do or self.ask or any(map(str.strip, self.prose)))


def _drafts(lines: list[str], start: int, title: str, path: Path) -> Iterator[_Draft]:
    draft = _Draft(start + 1, title)
    at = start
    while at < len(lines):
        line, fence = lines[at], _FENCE.match(lines[at])
        end = at
        if fence:
            ends = (place for place in range(at + 1, len(lines)) if lines[place].strip() == "```")
            end = next(ends, at)
            if end == at:
                raise fail(path, at + 1, "the block that begins here has no end; close it: ```.")
        if fence and fence[1] in ("do", "ask"):
            block = draft.do if fence[1] == "do" else draft.ask
            if fence[1] == "ask" and block:
                raise fail(path, at + 1, "a step asks one question; begin another step: ## ….")
            block += [(number + 1, lines[number]) for number in range(at + 1, end)]
        elif line.startswith("## "):
            if not draft.is_empty:
                yield draft
            draft = _Draft(at + 1, line[3:].strip())
        else:
            draft.prose += lines[at : end + 1]
        at = end + 1
    yield draft


def _step(draft: _Draft, model: str | None, path: Path) -> Step:
    text = "\n".join(draft.prose).strip()
    question = _question(draft.ask, path)
    try:
        measures = measures_in(text) | measures_in(question.because if question else "")
    except UserError as error:
        raise fail(path, draft.line, str(error)) from error
    return Step(
        line=draft.line,
        title=draft.title,
        text=text,
        doing=_doing(draft.do, model, path),
        question=question,
        measures=measures,
    )


def _doing(lines: list[tuple[int, str]], model: str | None, path: Path) -> Doing:
    found: dict[str, Any] = {"model": model} if lines else {}
    off, even = list[Head](), list[Head]()
    for number, line in lines:
        if not line.strip():
            continue
        key, value = _pair(line, number, path)
        try:
            if key == "gate":
                _gate(value, off, even, found)
            elif key in _READERS:
                found[key] = _READERS[key](value)
            else:
                known = ", ".join(sorted([*_READERS, "gate"]))
                raise UserError(f"a step can't do {key!r}; it can do: {known}.")
        except UserError as error:
            raise fail(path, number, str(error)) from error
    return Doing(**found, off=tuple(off), even=tuple(even))


def _gate(value: str, off: list[Head], even: list[Head], found: dict[str, Any]) -> None:
    """Read "all on", or heads separated by commas and then "off" or "even"."""
    heads, _, state = value.rpartition(" ")
    if value == "all on":
        found["all_on"] = True
    elif state in ("off", "even"):
        gated = off if state == "off" else even
        gated += [_head(one) for one in heads.split(",")]
    else:
        raise UserError(
            f"a gate is “all on”, or heads and what they shall be, as in “encoder 4.1 off” or "
            f"“encoder 4.1, encoder 4.2 even”, not {value!r}."
        )


def _head(text: str) -> Head:
    return read_head(text.strip().replace(" ", ":"))


def _pin(text: str) -> Pin:
    query, _, key = text.partition("->")
    return Pin(query.strip(), key.strip() or None)


def _one_of(names: Sequence[str], what: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise UserError(f"there is no {what} {text!r}; there are: {', '.join(names)}.")
        return text

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "model": str,
    "text": str,
    "view": _one_of(VIEWS, "view"),
    "head": _head,
    "pin": _pin,
    "example": _one_of(EXAMPLES, "example"),
    "scaling": lambda text: Scaling(_one_of(tuple(Scaling), "scaling")(text)),
    "mask": lambda text: _one_of(("on", "off"), "state of the mask")(text) == "on",
    "point": _one_of(PARTS, "part of the window"),
}


def _question(lines: list[tuple[int, str]], path: Path) -> Question | None:
    if not lines:
        return None
    pairs = {}
    for number, line in lines:
        if line.strip():
            key, value = _pair(line, number, path)
            pairs[key] = value
    try:
        return read_question(pairs)
    except UserError as error:
        raise fail(path, lines[0][0], str(error)) from error
