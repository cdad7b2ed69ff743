"""Layouts of tables as people have them, read by the reader that all commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.corpus.aligned import pair_reader, read_aligned
from core.corpus.read_report import Found, Problem
from core.corpus.spec import files_of, is_translated, names_of
from core.errors import UserError

PAIRS = (("The grandmother sleeps.", "Die Oma schläft."), ("He left.", "Er ging."))


def table(folder: Path, *lines: str, name: str = "pairs.tsv") -> str:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("form", "columns"),
    [
        ("{n}\t{s}\t{n}9\t{t}", (2, 4)),  # Tatoeba's pair export
        ("0.{n}\t{s}\t{t}", (2, 3)),  # a score in front, as WikiMatrix has it
        ("{n}\t{s}\t{t}", (2, 3)),
        ("{s}\t1,{n}e-1\t{t}", (1, 3)),
    ],
)
def test_columns_of_numbers_are_passed_over(
    tmp_path: Path, form: str, columns: tuple[int, int]
) -> None:
    lines = [form.format(n=n, s=s, t=t) for n, (s, t) in enumerate(PAIRS, start=1)]
    text = read_aligned(table(tmp_path, *lines))
    assert text.pairs == PAIRS
    assert f"text from columns {columns[0]} and {columns[1]}" in text.report.summary()
    assert Problem.EXTRA_COLUMNS not in text.report.problems


def test_the_first_two_columns_need_no_remark(tmp_path: Path) -> None:
    text = read_aligned(table(tmp_path, *(f"{s}\t{t}\t0.9" for s, t in PAIRS)))
    assert text.pairs == PAIRS
    assert text.report.remarks == []


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("source\ttarget", "{s}\t{t}"),
        ("English\tGerman", "{s}\t{t}"),
        ("text_en\tsentence2-de-DE", "{s}\t{t}"),
        ("nr\tfirst\tnr2\tsecond", "7\t{s}\t8\t{t}"),
        ("a\tb\tmargin", "{s}\t{t}\t1.5"),
    ],
)
def test_a_header_is_left_out_and_counted(tmp_path: Path, header: str, form: str) -> None:
    text = read_aligned(table(tmp_path, header, *(form.format(s=s, t=t) for s, t in PAIRS)))
    assert text.pairs == PAIRS
    assert text.report.problems[Problem.HEADER] == Found(1, [1])


@pytest.mark.parametrize(
    "first", ["Text\tText", "source 0\ttarget 0", "The source\tDie Quelle", "id card\tAusweis"]
)
def test_a_sentence_is_no_header(tmp_path: Path, first: str) -> None:
    assert len(read_aligned(table(tmp_path, first, "a\tb")).pairs) == 2


def test_numbers_may_be_translated(tmp_path: Path) -> None:
    assert read_aligned(table(tmp_path, "1\t1", "2\t2")).pairs == (("1", "1"), ("2", "2"))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (
            "1001\tThe grandmother sleeps.",
            "1: “1001”, 2: “The grandmother sleeps.”.* for example .*:1:2",
        ),
        ("1\tone\t2\teins\tuser", "2: “one”.* for example .*:2:4"),
    ],
)
def test_what_cannot_be_told_is_asked(tmp_path: Path, line: str, named: str) -> None:
    with pytest.raises(UserError, match=named):
        read_aligned(table(tmp_path, line, line))


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = table(tmp_path, "1\tone\t2\teins\tuser", "short\tline", name="some.txt")
    spec = f"{path}:4:2"
    assert (files_of(spec), names_of(spec)) == ([Path(path)], ["some.txt:4:2"])
    assert is_translated(spec)
    text = read_aligned(spec)
    assert text.pairs == (("eins", "one"),)
    assert text.report.problems == {Problem.NO_COLUMN: Found(1, [2])}
    with pytest.raises(UserError, match="one column twice"):
        pair_reader(f"{path}:2:2")
