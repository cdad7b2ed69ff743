"""The characters of an XML file, whatever encoding it declares, fit for a strict parser.

A single byte that is wrong would end the parsing of the whole file. So what XML does not allow, and
what does not belong to the encoding, becomes one character that does not stand in texts; the parser
passes it on, and whoever reads can leave out the part that holds it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from core.corpus.encoding import wide_encoding
from core.errors import UserError

FORBIDDEN = "\ufdd0"  # a noncharacter: allowed in XML, and not meant for exchange

_CHUNK = 1 << 16
_HEAD = 64
_DECLARED = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_NOT_ALLOWED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_REFERENCE = re.compile(r"&#(x[0-9a-fA-F]{1,8}|[0-9]{1,10});")
_LONGEST_REFERENCE = 13


class XmlText:
    """Iterates once over a binary stream as text.

    Attributes:
        remark: after the iteration, what was wrong with the encoding that the file declares.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """
        Args:
            name: of the file, as a sentence names it.
        """
        self._stream = stream
        self._name = name
        self.remark = ""

    def __iter__(self) -> Iterator[str]:
        """Raises UserError if the file declares an encoding that is not known."""
        chunk = self._stream.read(_CHUNK)
        declared = self._declared(chunk)
        decoder = _decoder(declared)
        sure = declared in ("utf-8", "utf-16", "utf-32")
        rest = ""
        while chunk:
            if not sure and not chunk.isascii():
                sure = True
                if _is_utf8(chunk):
                    decoder = _decoder("utf-8")
                    self.remark = f"it declares {declared} but is UTF-8, and was read as such"
            text = rest + decoder.decode(chunk)
            cut = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
            text, rest = (text, "") if cut < 0 else (text[:cut], text[cut:])
            yield _clean(text)
            chunk = self._stream.read(_CHUNK)
        yield _clean(rest + decoder.decode(b"", final=True))

    def _declared(self, chunk: bytes) -> str:
        """The encoding to begin with; that of the first bytes wins where they show one."""
        if wide := wide_encoding(chunk[:_HEAD]):
            mark = chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or wide == "UTF-32"
            little = chunk[1:2] == b"\0"
            return wide.lower() if mark else "utf-16-le" if little else "utf-16-be"
        found = _DECLARED.search(chunk[:1_000])
        if found is None or chunk.startswith(codecs.BOM_UTF8):
            return "utf-8"
        name = found[1].decode("ascii")
        try:
            encoding = codecs.lookup(name).name
            is_wide = encoding.startswith(("utf-16", "utf-32"))
            if not is_wide and not _is_for_text(encoding):
                raise LookupError(name)
        except LookupError:
            raise UserError(
                f"{self._name} declares the encoding {name}, which is unknown; save it as UTF-8."
            ) from None
        if is_wide:
            self.remark = f"it declares {encoding} but is not, and was read as UTF-8"
            return "utf-8"
        return encoding


def _is_for_text(encoding: str) -> bool:
    """Whether ASCII is the same in it, as in all that XML files are written in."""
    try:
        return b"<tmx>".decode(encoding) == _decoder(encoding).decode(b"<tmx>") == "<tmx>"
    except (LookupError, ValueError):
        return False


def _is_utf8(chunk: bytes) -> bool:
    """Whether it is the beginning of UTF-8 text; a character may be cut off at its end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    return codecs.getincrementaldecoder(name)("tmx-forbidden")


def _forbidden(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return FORBIDDEN, error.end
    raise error


codecs.register_error("tmx-forbidden", _forbidden)


def _clean(text: str) -> str:
    return _REFERENCE.sub(_reference, _NOT_ALLOWED.sub(FORBIDDEN, text))


def _reference(found: re.Match[str]) -> str:
    """A character reference as it stands, unless it names what XML does not allow."""
    digits = found[1]
    code = int(digits[1:], 16) if digits[0] == "x" else int(digits)
    allowed = code < 0x110000 and (code in (9, 10, 13) or code >= 32)
    return found[0] if allowed and not _NOT_ALLOWED.match(chr(code)) else FORBIDDEN
