"""A text of one or more sentences, which a model translates one by one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.text.sentences import WIDE_STOPS, Span, find_sentences

_TOKEN = re.compile(r"\s*(>>[^<>\s]+<<)\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and its sentences; a text that is kept whole is one sentence.

    Attributes:
        spans: one or more, ascending, with nothing but white space around them. The only one of a
            text is all of it, white space included.
        token: what the text begins with to choose the target language, such as ">>deu<<"; "" if it
            chooses none.
    """

    text: str = ""
    spans: tuple[Span, ...] = field(default=(Span(0, 0),))
    token: str = ""

    @classmethod
    def whole(cls, text: str) -> Passage:
        """Return the text as one sentence."""
        return cls(text, (Span(0, len(text)),))

    @classmethod
    def of(cls, text: str, language: str, tokens: Sequence[str] = ()) -> Passage:
        """Split a text.

        Args:
            language: of the text, as ``find_sentences`` takes it.
            tokens: with which a text may choose the target language, as in ``Tokenizer.languages``.
        """
        spans = find_sentences(text, language)
        if len(spans) < 2:
            return cls.whole(text)
        begins = _TOKEN.match(text)
        token = begins[1] if begins is not None and begins[1] in tokens else ""
        return cls(text, tuple(spans), token)

    @property
    def questions(self) -> tuple[str, ...]:
        """What the model is asked: each sentence, with the language token of the text."""
        return tuple(map(self.question, range(len(self.spans))))

    def question(self, index: int) -> str:
        """Return one of ``questions``."""
        return self._prefix(index) + self.sentence(index)

    def start(self, index: int) -> int:
        """Return where a sentence begins, or the last one where there are fewer."""
        return self.spans[min(index, len(self.spans) - 1)].start

    def sentence(self, index: int) -> str:
        """Return the characters of a sentence, as they are in the text."""
        start, end = self.spans[index]
        return self.text[start:end]

    def with_sentence(self, index: int, sentence: str) -> str:
        """Return the text with another sentence in this place."""
        start, end = self.spans[index]
        return self.text[:start] + sentence + self.text[end:]

    def origin(self, index: int) -> int:
        """Return the place in the text where a question has its first character.

        It is negative, or inside the sentence before, by the token that the question has and the
        sentence does not.
        """
        return self.spans[index].start - len(self._prefix(index))

    def at(self, place: int) -> int:
        """Return the sentence at a character, or before it where none begins there."""
        starts = [span.start for span in self.spans]
        return max(0, bisect_right(starts, place) - 1)

    def joined(self, translations: Sequence[str]) -> str:
        """Put the translations of the sentences together with the white space of the text.

        Where the text has none, as in Chinese, a space separates those that end as in English.
        """
        return self.placed(translations)[0]

    def placed(self, translations: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
        """Return the same, and where in it each translation is."""
        parts: list[str] = []
        spans: list[Span] = []
        length = 0
        for index, translation in enumerate(translations):
            if index:
                gap = self.text[self.spans[index - 1].end : self.spans[index].start]
                if not gap and not parts[-1].endswith(tuple(WIDE_STOPS)):
                    gap = " "
                parts.append(gap)
                length += len(gap)
            spans.append(Span(length, length + len(translation)))
            parts.append(translation)
            length += len(translation)
        return "".join(parts), tuple(spans)

    def _prefix(self, index: int) -> str:
        return f"{self.token} " if self.token and index else ""
