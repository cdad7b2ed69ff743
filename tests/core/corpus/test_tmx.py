from __future__ import annotations

import gzip
import re
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpus.aligned import pair_reader, read_aligned
from core.corpus.line_reader import LONGEST_LINE
from core.corpus.read_report import Found, Problem
from core.corpus.spec import is_translated, names_of
from core.corpus.tmx import TmxReader
from core.errors import UserError

DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'


def unit(**languages: str) -> str:
    variants = "".join(
        f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in languages.items()
    )
    return f"<tu>{variants}</tu>\n"


def tmx(*units: str, source: str = "en", start: str = DOCTYPE) -> str:
    return (
        f'<?xml version="1.0"?>\n{start}\n<tmx version="1.4"><header srclang="{source}"/><body>\n'
        f"{''.join(units)}</body></tmx>"
    )


def written(folder: Path, text: str | bytes, name: str = "memory.tmx") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def pairs(path: Path, languages: tuple[str, str] | None = None) -> list[tuple[str, str]]:
    return [(source, target) for _, source, target in TmxReader(path, languages)]


def test_the_language_of_the_header_is_the_source(tmp_path: Path) -> None:
    units = [unit(de="Eins.", en="One."), unit(en="Two.", de="Zwei.")]
    for source in ("en", "EN-us"):
        path = written(tmp_path, tmx(*units, source=source))
        assert pairs(path) == [("One.", "Eins."), ("Two.", "Zwei.")]
    path = written(tmp_path, tmx(*units, source="*all*"))
    assert pairs(path) == [("Eins.", "One."), ("Zwei.", "Two.")]


def test_named_languages_include_their_variants(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        tmx(
            '<tu><tuv xml:lang="en_US"><seg>Color</seg></tuv><tuv lang="DE"><seg>Farbe</seg></tuv>'
            '<tuv xml:lang="fr-FR"><seg>Couleur</seg></tuv></tu>',
            unit(de="Rad", en="Wheel"),
        ),
    )
    assert pairs(path, ("de", "en")) == [("Farbe", "Color"), ("Rad", "Wheel")]
    reader = TmxReader(path, ("fr", "en-us"))
    assert list(reader) == [(1, "Couleur", "Color")]
    assert reader.report.problems == {Problem.NO_LANGUAGE: Found(1, [2])}
    assert reader.report.summary() == (
        "memory.tmx:fr:en-us: 2 units, 1 pair; 1 × one of the languages is missing (unit 2)"
    )
    with pytest.raises(UserError, match=r"languages en-us, de, fr-fr; name two .*tmx:en-us:de\."):
        pairs(path)


def test_variants_of_one_language_stay_apart(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        tmx(
            '<tu><tuv xml:lang="pt-BR"><seg>trem</seg></tuv>'
            '<tuv xml:lang="pt-PT"><seg>comboio</seg></tuv></tu>'
        ),
    )
    assert pairs(path) == [("trem", "comboio")]
    path = written(tmp_path, path.read_text().replace('srclang="en"', 'srclang="pt-PT"'))
    assert pairs(path) == [("comboio", "trem")]


def test_codes_of_the_program_that_wrote_it_are_no_text(tmp_path: Path) -> None:
    english = (
        'Press <bpt i="1">&lt;b&gt;</bpt><hi>Enter</hi><ept i="1">&lt;/b&gt;</ept>'
        "<ph>{0}<sub>note</sub></ph>\n    now &amp; here."
    )
    path = written(tmp_path, tmx(unit(en=english, de="Jetzt\u00a0\u2028 <it>x</it>hier")))
    assert pairs(path) == [("Press Enter now & here.", "Jetzt\u00a0\u2028 hier")]


def test_what_is_wrong_is_left_out_and_counted(tmp_path: Path) -> None:
    long = "x" * (LONGEST_LINE + 1)
    path = written(
        tmp_path,
        tmx(
            unit(en="One.", de="Eins."),
            unit(en="Two."),
            unit(en="Three.", de=" "),
            unit(en="A&nbsp;B", de="C"),  # declared in a DTD that is not fetched
            unit(en=long, de="Lang."),
            unit(en="Six.", de="Sechs."),
        ),
    )
    reader = TmxReader(path)
    assert list(reader) == [(1, "One.", "Eins."), (6, "Six.", "Sechs.")]
    assert (reader.report.lines, reader.report.pairs) == (6, 2)
    assert reader.report.problems == {
        Problem.NO_LANGUAGE: Found(1, [2]),
        Problem.EMPTY: Found(1, [3]),
        Problem.UNKNOWN_ENTITY: Found(1, [4]),
        Problem.TOO_LONG: Found(1, [5]),
    }


@pytest.mark.parametrize(
    "start",
    [
        '<!DOCTYPE tmx [<!ENTITY secret SYSTEM "SECRET">]>',
        '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE tmx [<!ENTITY % remote SYSTEM "SECRET"> %remote;]>',
    ],
)
def test_entities_are_never_read(tmp_path: Path, start: str) -> None:
    secret = written(tmp_path, "the secret", "secret.txt")
    start = start.replace("SECRET", secret.as_uri())
    path = written(tmp_path, tmx(unit(en="&secret;", de="&b;"), start=start))
    with pytest.raises(UserError, match="declares an entity of its own"):
        pairs(path)


def test_a_dtd_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    dtd = written(tmp_path, '<!ENTITY nbsp "fetched">', "tmx14.dtd")
    start = f'<!DOCTYPE tmx SYSTEM "{dtd.as_uri()}">'
    units = [unit(en="A&nbsp;B", de="C"), unit(en="One.", de="Eins.")]
    assert pairs(written(tmp_path, tmx(*units, start=start))) == [("One.", "Eins.")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no element found"),
        (b"one\teins\n", r"line 1: syntax error"),
        (b"<html/>", "is not a TMX file: it begins with <html>"),
        (tmx(unit(en="One.", de="Eins."))[:-20].encode(), "unclosed token|no element found"),
        (tmx(unit(en="One.", de="Eins.")).encode() + b"\xff", "line 5: not well-formed"),
        (tmx().encode(), r"No pair of sentences could be read\. memory\.tmx: 0 units, 0 pairs"),
    ],
)
def test_files_that_are_none(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        pairs(written(tmp_path, data))


def test_a_language_that_is_not_there(tmp_path: Path) -> None:
    path = written(tmp_path, tmx(unit(en="One.", de="Eins.")))
    with pytest.raises(UserError, match=r"No pair of sentences in en and fr .* missing \(unit 1\)"):
        pairs(path, ("en", "fr"))


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_other_encodings_and_gzip(tmp_path: Path, encoding: str) -> None:
    text = tmx(unit(en="One.", de="Größe")).replace(
        'version="1.0"', f'version="1.0" encoding="{encoding}"', 1
    )
    data = text.encode(encoding)
    path = written(tmp_path, gzip.compress(data), "memory.tmx.gz")
    assert read_aligned(str(path)).pairs == (("One.", "Größe"),)
    reader = pair_reader(str(path))
    assert reader.size == path.stat().st_size
    with pytest.raises(UserError, match="Could not read"):
        read_aligned(str(written(tmp_path, gzip.compress(data)[:-9], "cut.tmx.gz")))


def test_a_spec_names_the_languages(tmp_path: Path) -> None:
    path = written(tmp_path, tmx(unit(en="One.", de="Eins.")))
    assert read_aligned(f"{path}:de:en").pairs == (("Eins.", "One."),)
    assert names_of(f"{path}:de:en") == ["memory.tmx:de:en"]
    assert is_translated(f"{path}:de:en")
    assert is_translated(str(path))
    assert not is_translated("memory.txt")


SENTENCE = st.text(
    st.just(" ")
    | st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
    max_size=20,
)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), max_size=20))
def test_whatever_the_text_unit_n_holds_pair_n(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    rows = [("first", "erste"), *rows]
    units = [unit(en=escape(source), de=escape(target)) for source, target in rows]
    path = written(tmp_path_factory.mktemp("tmx"), tmx(*units))
    squeezed = [(number, *map(squeeze, row)) for number, row in enumerate(rows, start=1)]
    assert list(TmxReader(path)) == [row for row in squeezed if all(row)]


def squeeze(text: str) -> str:
    return re.sub(" +", " ", text).strip(" ")


def test_units_come_before_the_file_has_been_read(tmp_path: Path) -> None:
    path = written(tmp_path, tmx(*(unit(en=f"n {n}", de=f"N {n}") for n in range(20_000))))
    reader = TmxReader(path)
    rows = iter(reader)
    assert next(rows) == (1, "n 0", "N 0")
    assert reader.position < reader.size / 2
    assert sum(1 for _ in rows) == 19_999


UNITS = (unit(en="One.", de="Eins."), unit(en="Two.", de="Zwö{}lf."), unit(en="Three.", de="Drei."))


@pytest.mark.parametrize(
    "bad", [b"\x01", b"\x00", b"&#1;", b"&#x1F;", b"&#xFFFE;", b"\xef\xbf\xbe"]
)
def test_a_unit_with_a_forbidden_character_is_left_out_and_counted(
    tmp_path: Path, bad: bytes
) -> None:
    path = written(tmp_path, tmx(*UNITS).encode().replace(b"{}", bad))
    text = read_aligned(str(path))
    assert text.pairs == (("One.", "Eins."), ("Three.", "Drei."))
    assert text.report.problems == {Problem.CONTROL: Found(1, [2])}


def test_allowed_references_stay(tmp_path: Path) -> None:
    path = written(tmp_path, tmx(unit(en="a&#9;&amp;&#x41;", de="&#228;")))
    assert pairs(path) == [("a &A", "ä")]


@pytest.mark.parametrize("start", range(65_525, 65_540))
def test_a_reference_across_two_chunks(tmp_path: Path, start: int) -> None:
    text = tmx(unit(en="X" * 70_000, de="Eins."))
    first = text.index("X")
    text = text[:start] + "&#x41;" + text[start:]
    assert pairs(written(tmp_path, text)) == [
        ("X" * (start - first) + "A" + "X" * (70_000 + first - start), "Eins.")
    ]


@pytest.mark.parametrize(
    ("declared", "actual", "left_out", "remark"),
    [
        ("ISO-8859-1", "latin-1", 0, ""),
        ("utf-16", "utf-16", 0, ""),
        ("windows-1252", "utf-8", 0, "it declares cp1252 but is UTF-8"),
        ("utf-16", "utf-8", 0, "it declares utf-16 but is not"),
        ("utf-8", "latin-1", 1, ""),
    ],
)
def test_the_encoding_is_what_the_bytes_say(
    tmp_path: Path, declared: str, actual: str, left_out: int, remark: str
) -> None:
    text = tmx(*UNITS).replace("{}", "").replace('"1.0"', f'"1.0" encoding="{declared}"')
    read = read_aligned(str(written(tmp_path, text.encode(actual))))
    assert len(read.pairs) == 3 - left_out
    assert (("Two.", "Zwölf.") in read.pairs) == (not left_out)
    found = read.report.problems.get(Problem.CONTROL)
    assert (0 if found is None else found.count) == left_out
    assert remark in read.report.summary()


@pytest.mark.parametrize("name", ["klingon", "hex", "idna"])
def test_an_unknown_encoding_is_named(tmp_path: Path, name: str) -> None:
    text = tmx(*UNITS).replace('"1.0"', f'"1.0" encoding="{name}"')
    with pytest.raises(UserError, match=f"declares the encoding {name}, which is unknown"):
        pairs(written(tmp_path, text))
