"""The sentences passed to a command as arguments, in a file or through a pipe."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from core.corpus.line_reader import LONGEST_LINE
from core.errors import UserError

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.text.passage import Passage
    from core.text.tokenizer import Tokenizer

_PIECE = 1 << 16


def piped(stream: BinaryIO) -> Iterator[list[str]]:
    """Yield the lines of a stream in lists, each with what could be read at that moment.

    Each line is therefore available as soon as it has been written, and lines that are written
    faster than they are used come in larger lists. Only \\n ends a line; the last one needs none.

    Raises:
        UserError: a line is not UTF-8 or far too long, or reading fails. The lines before it have
            been yielded.
    """
    rest, number = b"", 0
    while True:
        try:
            piece = stream.read1(_PIECE)  # type: ignore[attr-defined]
        except OSError as error:
            raise UserError(f"Standard input could not be read: {error.strerror}.") from error
        *raws, rest = (rest + piece).split(b"\n")
        if not piece and rest:
            raws.append(rest)
        lines: list[str] = []
        for raw in raws:
            number += 1
            text = _text(raw, first=number == 1)
            if text is None:
                if lines:
                    yield lines
                raise UserError(
                    f"Line {number:,} of standard input is not UTF-8; convert the text first, "
                    "for example with iconv."
                )
            lines.append(text)
        if lines:
            yield lines
        if not piece:
            return
        if len(rest) > LONGEST_LINE:
            raise UserError(
                f"Line {number + 1:,} of standard input is longer than {LONGEST_LINE:,} bytes; "
                "split it into sentences."
            )


def _text(raw: bytes, *, first: bool) -> str | None:
    raw = raw.removesuffix(b"\r")
    try:
        return (raw.removeprefix(codecs.BOM_UTF8) if first else raw).decode("utf-8")
    except UnicodeDecodeError:
        return None


def splitter(checkpoint: Checkpoint, *, whole_lines: bool) -> Callable[[str], Passage]:
    """Return what makes a line the sentences that the model translates one by one."""
    from core.checkpoints.provenance import source_language
    from core.text.passage import Passage

    if whole_lines:
        return Passage.whole
    language = source_language(checkpoint.provenance)
    return partial(Passage.of, language=language, tokens=checkpoint.tokenizer.languages)


def within(
    chunks: Iterable[list[Passage]], where: str, tokenizer: Tokenizer, longest: int
) -> Iterator[list[Passage]]:
    """Yield the same lists, as long as no sentence has more than ``longest`` tokens.

    Args:
        chunks: a passage for each line.
        where: what holds the lines, for the error message.

    Raises:
        UserError: a sentence is longer. The lines before its own have been yielded.
    """
    number = 0
    for chunk in chunks:
        for place, passage in enumerate(chunk):
            number += 1
            tokens = max(_tokens(one, tokenizer, longest) for one in passage.questions)
            if tokens > longest:
                if place:
                    yield chunk[:place]
                raise UserError(
                    f"Line {number:,} of {where} has a sentence of {tokens:,} tokens; the limit is "
                    f"{longest:,}. Divide it, or raise the limit with "
                    f"--longest {tokens}."
                )
        yield chunk


def _tokens(text: str, tokenizer: Tokenizer, longest: int) -> int:
    """Count the tokens; 0 for a text too short to have more than ``longest``."""
    if len(text.encode("utf-8", "surrogatepass")) < longest:
        return 0
    return len(tokenizer.encode(text))
