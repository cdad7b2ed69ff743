"""The sentences of a text, found by rule.

A sentence ends at a stop, with the quotes and brackets that close after it, where white space and
then a beginning follow. What the language decides is in ``core.text.abbreviations``. Unicode's
default rule (UAX #29) has the same frame, but knows no abbreviations: it ends a sentence at "Mr.".

Where it is open whether a sentence ends, it does not: a text that stays whole is translated as it
was before, whereas half a sentence is translated wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.text.abbreviations import StopRules, stop_rules

WIDE_STOPS = "。！？｡।॥።။។"
"""They end a sentence even where no space follows."""

_STOPS = re.compile(rf"[.!?…‼⁇⁈⁉؟۔։\u037e{WIDE_STOPS}]+")
_CLOSERS = re.compile(r"""(?:["'”’“‘»«›‹)\]}*_]|[ \xa0\u202f][»›](?!\S)|\[\d{1,3}\])*""")
_WIDE_CLOSERS = re.compile(r"""["'”’」』）】》〉］｝)\]]*""")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_BRACKET = re.compile(r"[()\[\]（）]")
_NUMBERING = re.compile(r"\W*(?:\d{1,3}|[^\W\d_]|[IVX]{1,5})")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.-?)+[^\W\d_]{1,4}")
_ROMAN = re.compile(r"[IVXLC]{2,7}\b")
_CHAIN = re.compile(r"(?:[^\W\d_]{1,4}\.\s?){1,3}$")
_LONGEST_CHAIN = 20  # characters before a word that may belong to its abbreviation, as in "z. B."
_LONGEST_WORD = 40
_LONGEST_BRACKET = 300  # characters; one that is open for longer was never meant to close
_NO_BREAK = "\xa0\u202f"


class Span(NamedTuple):
    """A range [start, end) of characters of a text."""

    start: int
    end: int


def find_sentences(text: str, language: str = "") -> list[Span]:
    """Return the sentences of a text in their order, without the white space around them.

    Nothing but white space is between them, so the text can be put together again exactly. An
    empty line ends a sentence too; a single line end is a space. The time is linear in the text.

    Args:
        language: a code such as "de" or "deu_Latn"; "" if it is unknown.
    """
    rules = stop_rules(language)
    spans: list[Span] = []
    start = 0
    for end in (*(found.start() for found in _PARAGRAPH.finditer(text)), len(text)):
        spans += _Paragraph(text, start, end, rules).sentences()
        start = end
    return spans


class _Paragraph:
    """One pass over [begin, end) of a text."""

    def __init__(self, text: str, begin: int, end: int, rules: StopRules) -> None:
        self._text = text
        self._end = end
        self._rules = rules
        self._start = begin  # of the sentence
        self._next = -1  # the first letter or digit behind the stop that was looked at last
        self._seen = begin  # how far brackets were followed
        self._open: list[int] = []  # brackets
        self._last_bracket = max(text.rfind(bracket, begin, end) for bracket in ")]）")
        first = _LETTERS.search(text, begin, end)
        self._uncapitalised = first is not None and first[0][0].islower()

    def sentences(self) -> Iterator[Span]:
        for end in self._ends():
            yield self._stripped(self._start, end)
            self._start = end
            self._open.clear()
        last = self._stripped(self._start, self._end)
        if last.start < last.end:
            yield last

    def _stripped(self, start: int, end: int) -> Span:
        piece = self._text[start:end]
        start += len(piece) - len(piece.lstrip())
        return Span(start, max(start, start + len(piece.strip())))

    def _ends(self) -> Iterator[int]:
        text = self._text
        for stop in _STOPS.finditer(text, self._start, self._end):
            wide = stop[0][-1] in WIDE_STOPS
            closed = (_WIDE_CLOSERS if wide else _CLOSERS).match(text, stop.end(), self._end)
            end = stop.end() if closed is None else closed.end()
            if self._next < end:
                found = _LETTER_OR_DIGIT.search(text, end, self._end)
                if found is None:
                    return
                self._next = found.start()
            spaced = text[end].isspace()
            goes_on = closed is not None and bool(closed[0]) and end == self._next
            if not (spaced or (wide and not goes_on)):
                continue
            if self._inside_bracket(end) or not self._has_words(stop.start()):
                continue
            if wide or self._is_end(stop, end):
                yield end

    def _inside_bracket(self, end: int) -> bool:
        """Whether a bracket that was opened in this sentence is still to be closed."""
        for found in _BRACKET.finditer(self._text, max(self._seen, self._start), end):
            if found[0] in "([（":
                self._open.append(found.start())
            elif self._open:
                self._open.pop()
        self._seen = end
        return (
            bool(self._open)
            and self._last_bracket >= end
            and end - self._open[-1] <= _LONGEST_BRACKET
        )

    def _has_words(self, stop: int) -> bool:
        """Whether something was said before the stop, more than a number in a list: "1. The"."""
        if _LETTER_OR_DIGIT.search(self._text, self._start, stop) is None:
            return False
        numbering = _NUMBERING.fullmatch(self._text, self._start, stop)
        return numbering is None or self._text[stop] != "."

    def _is_end(self, stop: re.Match[str], end: int) -> bool:
        """Decide on a stop that white space follows."""
        text, begin = self._text, self._next
        small = text[begin].islower()
        if stop[0] != ".":
            strong = stop[0].strip(".…") != ""
            if small:  # “Why?” asked the king.
                return strong and end == stop.end()
            return strong or self._word(begin) not in self._rules.capitals  # Well... I see.
        if text[end] in _NO_BREAK and end == stop.end():
            return False
        if small and not self._uncapitalised:
            return False
        return self._ends_after_word(stop.start(), begin)

    def _word(self, begin: int) -> str:
        """The letters that begin here."""
        found = _LETTERS.match(self._text, begin)
        return "" if found is None else found[0]

    def _ends_after_word(self, stop: int, begin: int) -> bool:
        """Decide on a single full stop by the word before it and the one after it."""
        text, rules = self._text, self._rules
        opens = self._word(begin) in rules.openers
        at = max(self._start, stop - _LONGEST_WORD)
        word = text[at:stop].split()[-1:]
        last = word[0].lstrip("([{\"'“„‘‚«»¿¡") if word else ""
        before = text[max(self._start, stop - len(last) - _LONGEST_CHAIN) : stop - len(last)]
        chain = _CHAIN.search(before) if "." in before else None
        names = {last.lower()}
        if chain is not None:
            names.add(("".join(chain[0].split()) + last).lower())
        if names & rules.inner and not (names & rules.final and opens):
            return False
        if names & rules.numbered and _is_number(text, begin):
            return False
        if names & rules.final or _DOTTED.fullmatch(last):
            return opens
        if last.isdecimal() or _ROMAN.fullmatch(last):
            ordinal = rules.ordinals and len(last) < 3 + 2 * last.isalpha()
            return opens or not ordinal
        if len(last) == 1 and last.upper() != last.lower():  # an initial, or "you and I"
            return opens or (last in rules.capitals and before[-2:-1].islower())
        return True


def _is_number(text: str, begin: int) -> bool:
    return text[begin].isdecimal() or _ROMAN.match(text, begin) is not None
