from __future__ import annotations

from pathlib import Path

import pytest

from core.corpus.aligned import (
    Problem,
    group_by_source,
    read_aligned,
    read_file_pair,
    read_lines,
    read_tsv,
)
from core.errors import UserError


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_lines_end_at_newline_only(tmp_path: Path) -> None:
    odd = "a\u2028b\x85c\x0bd\x0ce\u2029f\rg"
    path = written(tmp_path / "odd.tsv", f"{odd}\tx\nsecond\ty\n".encode())
    assert read_tsv(path).pairs == ((odd, "x"), ("second", "y"))


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
    text = read_tsv(path)
    assert text.pairs == (("one", "eins"), ("two", "zwei"), ("eight", "acht"), ("nine", "neun"))
    assert (text.report.lines, text.report.pairs) == (9, 4)
    assert text.report.problems == {
        Problem.BYTE_ORDER_MARK: (1, 1),
        Problem.CARRIAGE_RETURN: (1, 1),
        Problem.NO_TAB: (1, 3),
        Problem.NOT_UTF8: (1, 4),
        Problem.EMPTY: (3, 5),
        Problem.EXTRA_COLUMNS: (1, 8),
    }
    assert text.report.summary() == (
        "bad.tsv: 9 lines, 4 pairs; 1 × not UTF-8 (first: line 4); 1 × no tab (first: line 3); "
        "3 × an empty side (first: line 5); "
        "1 × more than two columns (the first two are used) (first: line 8); "
        "1 × a Windows line end (removed) (first: line 1); "
        "1 × a byte-order mark (removed) (first: line 1)"
    )


def test_two_files_go_line_by_line(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"one\n\nthree\n\xc3\nfive\n")
    target = written(tmp_path / "a.de", b"eins\nzwei\ndrei\nvier\n\n")
    text = read_aligned(f"{source},{target}")
    assert text.pairs == (("one", "eins"), ("three", "drei"))
    assert text.report.problems == {Problem.EMPTY: (2, 2), Problem.NOT_UTF8: (1, 4)}


def test_files_of_different_length_are_not_aligned(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"one\ntwo\nthree\n")
    target = written(tmp_path / "a.de", b"eins\n\nzwei\ndrei\n")
    with pytest.raises(UserError, match=r"3 lines and .* 4, .*blank on one side only is 2\."):
        read_file_pair(source, target)


def test_a_file_whose_name_has_a_comma_is_one_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a,b.tsv", b"one\teins\n")
    assert read_aligned(str(path)).pairs == (("one", "eins"),)


def test_too_many_commas() -> None:
    with pytest.raises(UserError, match="too many commas"):
        read_aligned("a,b,c")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"only one column\n"])
def test_a_file_without_pairs(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UserError, match=r"No pair.*empty\.tsv"):
        read_tsv(written(tmp_path / "empty.tsv", data))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing\.tsv"):
        read_tsv(tmp_path / "missing.tsv")
    with pytest.raises(UserError, match="Could not read"):
        read_tsv(tmp_path)


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
