"""The file format of lessons."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UserError
from core.heads import AttentionKind, Head
from core.lessons.lesson import Doing, Pin, parse_lesson, read_lesson
from core.lessons.question import AnswerKind
from core.switches import INTACT, Scaling

PATH = Path("07-words.md")
FRONT = "---\ntitle: Words\n---\n"


def test_a_whole_lesson() -> None:
    lesson = parse_lesson(
        """---
title: Words
about: About words.
model: plain-en-de
minutes: 5
---
Hello.

## First

Look at {weight it -> animal}.

```do
text: It was tired.
view: links
head: encoder 4.1
pin: it -> animal
gate: encoder 1.2, cross:3.1 off
gate: decoder 2.2 even
point: heads
```

```python
not ours
```

```ask
yes: Is it?
answer: weight it -> animal > 0.5
because: It is {entropy it}.
```
""",
        PATH,
    )
    assert (lesson.name, lesson.title, lesson.about, lesson.minutes) == (
        *("words", "Words", "About words."),
        5,
    )
    hello, first = lesson.steps
    assert (hello.line, hello.title, hello.text, hello.doing) == (7, "Words", "Hello.", Doing())
    assert first.line == 9
    assert first.text.startswith("Look at {weight it -> animal}.")
    assert "```python\nnot ours\n```" in first.text
    assert first.doing == Doing(
        model="plain-en-de",
        text="It was tired.",
        view="links",
        head=Head(AttentionKind.ENCODER_SELF, 3, 0),
        pin=Pin("it", "animal"),
        off=(Head(AttentionKind.ENCODER_SELF, 0, 1), Head(AttentionKind.CROSS, 2, 0)),
        even=(Head(AttentionKind.DECODER_SELF, 1, 1),),
        point="heads",
    )
    assert first.question is not None
    assert first.question.kind is AnswerKind.YES
    assert first.question.bound == (">", 0.5)
    assert list(first.measures) == ["weight it -> animal", "entropy it"]


def test_a_lesson_of_one_page_and_with_carriage_returns() -> None:
    lesson = parse_lesson((FRONT + "All.\n").replace("\n", "\r\n"), PATH)
    assert [step.text for step in lesson.steps] == ["All."]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("Hello.", 1, "begins with its title between two lines"),
        ("---\ntitle: x\n", 1, "begins with its title between two lines"),
        ("---\nabout: x\n---\n", 1, "needs a title"),
        ("---\ntitle: x\nauthor: y\n---\n", 3, "the front matter has no 'author'"),
        ("---\ntitle: x\nminutes: soon\n---\n", 1, "minutes is a whole number, not 'soon'"),
        (FRONT + "```do\nhead: encoder 4\n```\n", 5, "'encoder:4' names no head"),
        (FRONT + "```do\nhead encoder 4.1\n```\n", 5, "expected “key: value”"),
        (FRONT + "\n```do\ndance: now\n```\n", 6, "a step can't do 'dance'; it can do: "),
        (FRONT + "```do\nview: sideways\n```\n", 5, "there is no view 'sideways'"),
        (FRONT + "```do\npoint: moon\n```\n", 5, "there is no part of the window 'moon'"),
        (FRONT + "```do\ngate: encoder 1.1 ajar\n```\n", 5, "a gate is “all on”, or heads"),
        (FRONT + "```do\nscaling: thrice\n```\n", 5, "there is no scaling 'thrice'"),
        (FRONT + "```do\nmask: ajar\n```\n", 5, "there is no state of the mask 'ajar'"),
        (FRONT + "```do\ntext: x\n", 4, "the block that begins here has no end"),
        (FRONT + "## A\n{wait it}\n", 4, "'wait it' cannot be measured"),
        (FRONT + "```ask\nword: Which?\n```\n", 5, "a question needs a line “answer: …”"),
        (FRONT + "```ask\nanswer: heads\n```\n", 5, "a question has one line “word: …”"),
        (FRONT + "```ask\nyes: So?\nanswer: heads\n```\n", 5, "is no answer to a question for a"),
        (FRONT + "```ask\nyes: So?\nif: no\nanswer: x\n```\n", 5, "a question has no 'if'"),
        (
            FRONT + "```ask\nnumber: A?\nanswer: heads\n```\n```ask\nnumber: B?\n```\n",
            8,
            "a step asks one question",
        ),
    ],
)
def test_what_cannot_be_understood_is_named_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(UserError) as refused:
        parse_lesson(text, PATH)
    assert str(refused.value).startswith(f"07-words.md, line {line}: ")
    assert said in str(refused.value)


def test_a_step_switches_parts_of_the_model_and_leaves_the_others() -> None:
    text = (
        "```do\nscaling: twice\n```\n## B\n```do\nmask: off\n```\n## C\n```do\nscaling: on\n```\n"
    )
    switches = INTACT
    found = []
    for step in parse_lesson(FRONT + text, PATH).steps:
        switches = step.doing.switched(switches)
        found.append((switches.scaling, switches.mask))
    assert found == [(Scaling.TWICE, True), (Scaling.TWICE, False), (Scaling.ON, False)]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "latin.md"
    path.write_bytes("---\ntitle: Käfer\n---\n".encode("latin-1"))
    with pytest.raises(UserError, match="is not UTF-8"):
        read_lesson(path)
    with pytest.raises(UserError, match="does not exist"):
        read_lesson(tmp_path / "missing.md")
