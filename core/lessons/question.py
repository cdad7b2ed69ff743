"""A question of a lesson, whose right answer is what the model does at that moment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.errors import UserError
from core.lessons.measures import Measure, Value, key_words, read_measure, shown
from core.trace.trace import Head, Trace

NEAR = 0.05
"""A number that was guessed is right within this distance, or within a tenth of the right one."""

_COMPARED = re.compile(r"(.+?)\s*([<>])\s*(\d+(?:\.\d+)?)$")


class AnswerKind(StrEnum):
    """What is answered: a word of the map's columns, a number, or yes or no."""

    WORD = "word"
    NUMBER = "number"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Question:
    """
    Attributes:
        text: what is asked.
        measure: what the right answer is computed from.
        bound: for yes or no, what a number is compared with: "<" or ">", and the limit.
        because: why it is so, shown with the right answer.
    """

    kind: AnswerKind
    text: str
    measure: Measure
    bound: tuple[str, float] | None = None
    because: str = ""

    def right(self, trace: Trace, head: Head) -> Value:
        """Compute the right answer; raises UserError if the sentence lacks a word."""
        value = self.measure.value(trace, head)
        if self.bound is None:
            return value
        sign, limit = self.bound
        assert isinstance(value, (int, float))
        return value > limit if sign == ">" else value < limit

    def choices(self, trace: Trace, head: Head) -> list[str]:
        """Return what can be answered, in the order of the sentence; nothing for a number."""
        if self.kind is AnswerKind.YES:
            return ["yes", "no"]
        if self.kind is AnswerKind.NUMBER:
            return []
        return list(dict.fromkeys(word for word, _ in key_words(trace, head.kind)))

    def is_right(self, answer: str, trace: Trace, head: Head) -> bool:
        """Compare an answer with the right one.

        Raises:
            UserError: it should be a number and is none.
        """
        right = self.right(trace, head)
        if self.kind is not AnswerKind.NUMBER:
            return answer.casefold() == shown(right).casefold()
        assert isinstance(right, (int, float))
        try:
            guess = float(answer.strip().replace(",", "."))
        except ValueError:
            raise UserError("Answer with a number, such as 0.5.") from None
        near = 0.0 if isinstance(right, int) else max(NEAR, abs(right) / 10)
        return abs(guess - right) <= near


def read_question(pairs: Mapping[str, str]) -> Question:
    """Read the lines of a block ``ask``: the kind of answer with the question, ``answer`` with a
    measure (for yes or no perhaps compared with a number: ``weight it -> animal > 0.5``), and
    perhaps ``because``.

    Raises:
        UserError: a line is missing, unknown or cannot be read.
    """
    kinds = [kind for kind in AnswerKind if kind in pairs]
    unknown = sorted(set(pairs) - set(AnswerKind) - {"answer", "because"})
    if unknown:
        raise UserError(f"a question has no {unknown[0]!r}; remove the line.")
    if len(kinds) != 1:
        raise UserError("a question has one line “word: …”, “number: …” or “yes: …”.")
    if "answer" not in pairs:
        raise UserError("a question needs a line “answer: …” that says what is measured.")
    (kind,) = kinds
    compared = _COMPARED.match(pairs["answer"]) if kind is AnswerKind.YES else None
    measure = read_measure(compared[1] if compared else pairs["answer"])
    allowed = {
        AnswerKind.WORD: ("heaviest",),
        AnswerKind.NUMBER: ("weight", "entropy", "distance", "tokens", "heads", "layers"),
        AnswerKind.YES: ("weight", "entropy", "mean entropy", "distance", "tokens", "loss")
        if compared
        else ("translation has",),
    }[kind]
    if measure.kind not in allowed:
        raise UserError(
            f"{pairs['answer']!r} is no answer to a question for a {kind}; measure one of: "
            f"{', '.join(allowed)}."
        )
    bound = (compared[2], float(compared[3])) if compared else None
    return Question(kind, pairs[kind], measure, bound, pairs.get("because", ""))
