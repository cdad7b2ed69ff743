from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpus.aligned import AlignedReader, group_by_source, read_aligned, read_lines
from core.corpus.line_reader import LONGEST_LINE
from core.corpus.read_report import Found, Problem
from core.errors import UserError


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_lines_end_at_newline_only(tmp_path: Path) -> None:
    odd = "a\u2028b\x85c\x0bd\x0ce\u2029f\rg"
    path = written(tmp_path / "odd.tsv", f"{odd}\tx\nsecond\ty\n".encode())
    assert read_aligned(str(path)).pairs == ((odd, "x"), ("second", "y"))


def test_what_is_wrong_is_left_out_counted_and_never_shifts_the_rest(tmp_path: Path) -> None:
    path = written(
        tmp_path / "bad.tsv",
        b"\xef\xbb\xbfone\teins\r\n"  # 1: byte-order mark, Windows line end
        b"two\tzwei\n"  # 2
        b"no tab here\n"  # 3
        b"\xff\xfe\tdrei\n"  # 4: not UTF-8
        b"\tvier\n"  # 5: empty source
        b"five\t  \n"  # 6: empty target
        b"\n"  # 7: empty line
        b"eight\tacht\tCC BY 2.0\n"  # 8: a third column
        b"nine\tneun",  # 9: no line end
    )
    text = read_aligned(str(path))
    assert text.pairs == (("one", "eins"), ("two", "zwei"), ("eight", "acht"), ("nine", "neun"))
    assert (text.report.lines, text.report.pairs) == (9, 4)
    assert text.report.problems == {
        Problem.BYTE_ORDER_MARK: Found(1, [1]),
        Problem.CARRIAGE_RETURN: Found(1, [1]),
        Problem.NO_TAB: Found(1, [3]),
        Problem.NOT_UTF8: Found(1, [4]),
        Problem.EMPTY: Found(3, [5, 6, 7]),
        Problem.EXTRA_COLUMNS: Found(1, [8]),
        Problem.UNFINISHED: Found(1, [9]),
    }
    assert text.report.summary() == (
        "bad.tsv: 9 lines, 4 pairs; 1 × not UTF-8 (line 4); 1 × no tab (line 3); "
        "3 × an empty side (lines 5, 6, 7); "
        "1 × more than two columns (the first two are used) (line 8); "
        "1 × a Windows line end (removed) (line 1); "
        "1 × a byte-order mark (removed) (line 1); "
        "1 × no line end (the file may have been cut off there) (line 9); "
        "in Windows-1252 (Latin-1) line 4 would read “ÿþ”: save it as UTF-8"
    )


def test_two_files_go_line_by_line(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"one\n\nthree\n\xc3\nfive\n")
    target = written(tmp_path / "a.de", b"eins\nzwei\ndrei\nvier\n\n")
    text = read_aligned(f"{source},{target}")
    assert text.pairs == (("one", "eins"), ("three", "drei"))
    assert text.report.problems == {
        Problem.EMPTY: Found(2, [2, 5]),
        Problem.NOT_UTF8: Found(1, [4]),
    }


@pytest.mark.parametrize("ends", [(b"", b"\n"), (b"\n", b""), (b"", b""), (b"\n", b"\n")])
def test_one_of_two_files_that_was_cut_off_is_told(tmp_path: Path, ends: Sequence[bytes]) -> None:
    source = written(tmp_path / "a.en", b"one\ntw" + ends[0])
    target = written(tmp_path / "a.de", b"eins\nzwei" + ends[1])
    text = read_aligned(f"{source},{target}")
    assert text.pairs == (("one", "eins"), ("tw", "zwei"))
    told = text.report.problems.get(Problem.UNFINISHED)
    assert told == (None if ends == (b"\n", b"\n") else Found(1, [2]))


def test_files_of_different_length_are_not_aligned(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"one\ntwo\nthree\n")
    target = written(tmp_path / "a.de", b"eins\n\nzwei\ndrei\n")
    with pytest.raises(UserError, match=r"3 lines but .* has 4, .*blank on one side only is 2\."):
        read_aligned(f"{source},{target}")


def test_a_file_that_goes_on_alone_is_counted_to_its_end(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"one\n" * 7)
    target = written(tmp_path / "a.de", b"eins\n" * 3)
    reader = AlignedReader([source, target])
    rows = []
    with pytest.raises(UserError, match=r"a\.en has 7 lines but .*a\.de has 3, .*not aligned\."):
        rows.extend(reader)
    assert len(rows) <= 3
    with pytest.raises(UserError, match=r"a\.de has 3 lines but .*a\.en has 7"):
        read_aligned(f"{target},{source}")


@pytest.mark.parametrize("packed", [(), ("a.en",), ("a.en", "a.de")])
def test_gzipped_files_read_like_plain_ones(tmp_path: Path, packed: tuple[str, ...]) -> None:
    contents = {"a.en": b"\xef\xbb\xbfone\r\n\ntwo\n", "a.de": b"eins\nzwei\nzwei\n"}
    for name, data in contents.items():
        written(tmp_path / name, gzip.compress(data) if name in packed else data)
    reader = AlignedReader([tmp_path / "a.en", tmp_path / "a.de"])
    assert list(reader) == [(1, "one", "eins"), (3, "two", "zwei")]
    assert reader.report.summary() == (
        "a.en, a.de: 3 lines, 2 pairs; 1 × an empty side (line 2); "
        "1 × a Windows line end (removed) (line 1); 1 × a byte-order mark (removed) (line 1)"
    )


def test_a_gzipped_file_that_was_cut_or_damaged(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d\t%d\n" % (n, n) for n in range(20_000)))
    for name, data in {
        "cut": whole[: len(whole) // 2],
        "damaged": whole[:2000] + bytes(500) + whole[2500:],
    }.items():
        path = written(tmp_path / f"{name}.tsv.gz", data)
        with pytest.raises(UserError, match=f"Could not read .*{name}"):
            read_aligned(str(path))


def test_lines_that_are_too_long_are_left_out_and_counted(tmp_path: Path) -> None:
    longest = b"a" * (LONGEST_LINE - 2) + b"\tb"
    path = written(
        tmp_path / "long.tsv",
        b"one\teins\n" + longest + b"\n" + b"x" + longest * 3 + b"\n" + b"two\tzwei\nx" + longest,
    )
    text = read_aligned(str(path))
    assert [source[:3] for source, _ in text.pairs] == ["one", "aaa", "two"]
    assert text.report.lines == 5
    assert text.report.problems == {Problem.TOO_LONG: Found(2, [3, 5])}
    with pytest.raises(UserError, match="line 3 is more than 1,000,000 bytes long"):
        read_lines(path)


ODD = st.binary(max_size=8) | st.sampled_from(
    [
        b"",
        b" ",
        b"\xef\xbb\xbf",
        b"\r",
        b"\t",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xff",
        b"\x00",
        b"a\x0bb",
    ]
)
LINE = st.lists(ODD, max_size=3).map(lambda parts: b"".join(parts).replace(b"\n", b""))


@given(st.lists(st.tuples(LINE, LINE)), st.booleans())
def test_whatever_the_bytes_line_n_goes_with_line_n(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[bytes, bytes]], packed: bool
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    pack = gzip.compress if packed else bytes
    # A first row that is whole, without which there may be none.
    rows = [(b"first", b"erste"), *lines]
    source = written(folder / "s", pack(b"".join(line + b"\n" for line, _ in rows)))
    target = written(folder / "t", pack(b"".join(line + b"\n" for _, line in rows)))
    reader = AlignedReader([source, target])
    found = list(reader)
    expected = [
        (number, *sides)
        for number, row in enumerate(rows, start=1)
        if all(sides := [plain(raw) for raw in row])
    ]
    assert found == expected
    assert (reader.report.lines, reader.report.pairs) == (len(rows), len(found))
    left_out = {Problem.EMPTY, Problem.NOT_UTF8}
    counts = [reader.report.problems[one].count for one in left_out & set(reader.report.problems)]
    assert len(rows) - len(found) <= sum(counts) <= 2 * (len(rows) - len(found))


def plain(raw: bytes) -> str:
    try:
        return raw.removesuffix(b"\r").decode().strip()
    except UnicodeDecodeError:
        return ""


def test_a_file_whose_name_has_a_comma_is_one_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a,b.tsv", b"one\teins\n")
    assert read_aligned(str(path)).pairs == (("one", "eins"),)


def test_too_many_commas() -> None:
    with pytest.raises(UserError, match="too many commas"):
        read_aligned("a,b,c")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"only one column\n"])
def test_a_file_without_pairs(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UserError, match=r"No pair.*empty\.tsv"):
        read_aligned(str(written(tmp_path / "empty.tsv", data)))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing\.tsv"):
        read_aligned(str(tmp_path / "missing.tsv"))
    with pytest.raises(UserError, match="Could not read"):
        read_aligned(str(tmp_path))


def test_plain_lines_keep_their_number(tmp_path: Path) -> None:
    path = written(tmp_path / "lines.txt", b"\xef\xbb\xbfone\r\n\n three \n")
    assert read_lines(path) == ["one", "", " three "]


def test_plain_lines_must_be_utf8(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 2 is not UTF-8"):
        read_lines(written(tmp_path / "lines.txt", b"one\n\xff\n"))


def test_grouping_keeps_order_and_drops_repeated_targets() -> None:
    pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")]
    assert group_by_source(pairs) == {"a": ["1", "3"], "b": ["2"]}
    assert list(group_by_source(pairs)) == ["a", "b"]
