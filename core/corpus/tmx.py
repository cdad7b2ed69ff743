"""Translation memories: TMX 1.4b (LISA 2005) and its predecessors, read in one pass.

<tmx><header srclang="en"/><body>
  <tu><tuv xml:lang="en"><seg>…</seg></tuv><tuv xml:lang="de"><seg>…</seg></tuv></tu> …

The file is parsed by expat, which fetches nothing: neither a DTD nor an external entity. A file
that declares entities of its own is refused, so none can grow without bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from core.corpus.line_reader import LONGEST_LINE
from core.corpus.packed_file import PackedFile
from core.corpus.read_report import Problem, ReadReport, Row
from core.corpus.xml_text import FORBIDDEN, XmlText
from core.errors import UserError

_NATIVE = {"bpt", "ept", "ph", "it", "ut"}  # hold codes of the program that wrote the file
_WHITE = re.compile(r"[ \t\r\n]+")  # of XML; a no-break space is text


class TmxReader:
    """Reads the pairs of two languages of a TMX file once, unit by unit, whatever its size.

    Attributes:
        report: complete after the last row.
        size: bytes of the file on disk.
    """

    def __init__(self, path: Path, languages: tuple[str, str] | None = None) -> None:
        """
        Args:
            languages: source and target, as in "en" or "en-US"; "en" stands for its variants too.
                None: those of the first unit that has two, the header's ``srclang`` first.

        Raises:
            UserError: the file cannot be opened.
        """
        self._path = path
        self._languages = languages
        self._file = PackedFile(path)
        self.size = self._file.size
        name = path.name if languages is None else ":".join([path.name, *languages])
        self.report = ReadReport(name, counted="unit")

    @property
    def position(self) -> int:
        """The number of bytes of the file on disk that have been read."""
        return self._file.position

    def __iter__(self) -> Iterator[Row]:
        """Units with both languages, numbered from 1, none of them empty.

        Raises:
            UserError: the file cannot be read, is not well-formed or no TMX, declares entities,
                has more languages than two where none were named, or holds no pair.
        """
        units = _Units()
        with self._file.unpacked() as unpacked:
            text = XmlText(unpacked, str(self._path))
            for chunk in text:
                self._parse(units, chunk)
                yield from self._rows(units)
            self._parse(units, "", final=True)
        if text.remark:
            self.report.remarks.append(text.remark)
        yield from self._rows(units)
        if not self.report.pairs:
            wanted = "" if self._languages is None else f" in {' and '.join(self._languages)}"
            raise UserError(f"No pair of sentences{wanted} could be read. {self.report.summary()}.")

    def _parse(self, units: _Units, chunk: str, *, final: bool = False) -> None:
        try:
            units.parser.Parse(chunk, final)
        except expat.ExpatError as error:
            raise UserError(
                f"{self._path}, line {error.lineno:,}: {expat.errors.messages[error.code]}; the "
                "file is truncated or not XML. Save it again from the program that created it."
            ) from error
        except _RefusedError as error:
            raise UserError(f"{self._path} {error}") from error

    def _rows(self, units: _Units) -> Iterator[Row]:
        for unit in units.take():
            self.report.lines += 1
            number = self.report.lines
            if self._languages is None:
                self._languages = self._two_of(list(unit), units.source_language)
            if found := units.problems.pop(number, None):
                self.report.note(min(found), number)
                continue
            texts = [self._text(unit, language) for language in self._languages or ()]
            problem = _problem(texts)
            if problem is not None:
                self.report.note(problem, number)
                continue
            self.report.pairs += 1
            source, target = texts
            assert source is not None
            assert target is not None
            yield number, source, target

    def _text(self, unit: dict[str, str], wanted: str) -> str | None:
        return next((text for code, text in unit.items() if _is_a(code, wanted)), None)

    def _two_of(self, codes: list[str], source: str) -> tuple[str, str] | None:
        if len(codes) < 2:
            return None
        if len(codes) > 2:
            raise UserError(
                f"{self._path} has the languages {', '.join(codes)}; name two of them, for "
                f"example {self._path.name}:{codes[0]}:{codes[1]}."
            )
        # a stable sort: the header's variant comes first, or else its language
        codes.sort(key=lambda code: (not _is_a(code, source), not _is_a(code, _language(source))))
        first, second = map(_language, codes)
        return (codes[0], codes[1]) if first == second else (first, second)


class _RefusedError(Exception):
    """The rest of a sentence that begins with the name of the file."""


class _Units:
    """Receives what expat finds; ``take`` hands over the units that are complete.

    Attributes:
        source_language: of the header, or nothing.
        problems: of units that are not handed over yet, by their number.
    """

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._declared
        self.parser.SkippedEntityHandler = self._skipped
        self.source_language = ""
        self.problems: dict[int, set[Problem]] = {}
        self._complete: list[dict[str, str]] = []
        self._begun = 0
        self._root = ""
        self._unit: dict[str, str] = {}  # lower-case language: text
        self._language = ""
        self._pieces: list[str] | None = None  # of the segment that is open
        self._length = 0
        self._native = 0  # how many elements with foreign codes are open

    def take(self) -> list[dict[str, str]]:
        complete, self._complete = self._complete, []
        return complete

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._root:
            self._root = name
            if name != "tmx":
                raise _RefusedError(f"is not a TMX file: it begins with <{name[:40]}>, not <tmx>.")
        if self._native or (self._pieces is not None and name in _NATIVE):
            self._native += 1
        elif name == "header":
            self.source_language = attributes.get("srclang", "")
        elif name == "tu":
            self._begun += 1
            self._unit = {}
        elif name == "tuv":
            code = attributes.get("xml:lang") or attributes.get("lang", "")
            self._language = code.lower().replace("_", "-")
        elif name == "seg":
            self._pieces, self._length = [], 0

    def _end(self, name: str) -> None:
        if self._native:
            self._native -= 1
        elif name == "seg" and self._pieces is not None:
            text = _WHITE.sub(" ", "".join(self._pieces)).strip(" ")
            self._unit.setdefault(self._language, text)
            self._pieces = None
        elif name == "tu":
            self._complete.append(self._unit)

    def _characters(self, text: str) -> None:
        if self._pieces is not None and not self._native and self._length <= LONGEST_LINE:
            if FORBIDDEN in text:
                self.problems.setdefault(self._begun, set()).add(Problem.CONTROL)
            self._pieces.append(text)
            self._length += len(text)

    def _declared(self, name: str, *_: object) -> None:
        raise _RefusedError(
            f"declares an entity of its own, {name[:40]!r}; such files are not read. Save it "
            "again without a DTD inside."
        )

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self.problems.setdefault(self._begun, set()).add(Problem.UNKNOWN_ENTITY)


def _language(code: str) -> str:
    """ "en-US" without its variant."""
    return code.replace("_", "-").partition("-")[0]


def _is_a(code: str, wanted: str) -> bool:
    """Whether a language is the wanted one or a variant of it: "en-us" is an "en"."""
    wanted = wanted.lower().replace("_", "-")
    return bool(wanted) and (code == wanted or code.startswith(wanted + "-"))


def _problem(texts: list[str | None]) -> Problem | None:
    if not texts or None in texts:
        return Problem.NO_LANGUAGE
    if not all(texts):
        return Problem.EMPTY
    if any(len(text) > LONGEST_LINE for text in texts if text):
        return Problem.TOO_LONG
    return None
