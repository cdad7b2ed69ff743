from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.corpus.aligned import read_aligned
from core.corpus.grammar.word_list import word_list
from core.corpus.recipe.prepare import Left, Prepared, prepare
from core.corpus.recipe.recipe import Recipe, read_recipe
from core.errors import UserError
from core.fields import from_mapping

RECIPES = Path(__file__).parents[4] / "resources" / "recipes"


def write(path: Path, *rows: str) -> None:
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def prepared(tmp_path: Path, *sources: dict[str, Any], **values: Any) -> dict[str, Prepared]:
    recipe = from_mapping(Recipe, {"sources": list(sources), **values})
    return {one.name: one for one in prepare(recipe, [tmp_path], tmp_path / "out")}


def rows(tmp_path: Path, name: str) -> list[str]:
    return (tmp_path / "out" / name).read_text(encoding="utf-8").splitlines()


def test_text_is_made_tidy(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", "He  knows\tEr weiß,  daß", "Cafe\u0301\tCafe\u0301 ")
    prepared(tmp_path, {"data": "a.tsv"})
    assert rows(tmp_path, "a.tsv") == ["He knows\tEr weiß, dass", "Café\tCafé"]


def test_what_is_left_out_and_why(tmp_path: Path) -> None:
    write(
        tmp_path / "a.tsv",
        "One two three.\tEins zwei drei.",
        "One two three.\tEins zwei drei.",
        "One two three four.\tEins.",
        "A sentence that goes on for more than forty letters\tEin kurzer.",
        "The same here.\tThe same here.",
        "OK\tOK",
        "See https://example.org\tSiehe dort",
        "Good dog!\tGuter Hund!",
    )
    write(tmp_path / "dev.tsv", "good dog\tbraver Hund")
    report = prepared(tmp_path, {"data": "a.tsv"}, held_out=["dev.tsv"], longest=3)["a.tsv"]
    assert rows(tmp_path, "a.tsv") == ["One two three.\tEins zwei drei.", "OK\tOK"]
    assert report.left_out == {
        Left.REPEATED: 1,
        Left.TOO_LONG: 2,
        Left.UNTRANSLATED: 1,
        Left.MARKUP: 1,
        Left.HELD_OUT: 1,
    }
    assert (report.read, report.written) == (8, 2)
    assert report.summary() == (
        "a.tsv: 2 pairs of 8 read, 1 held out, 1 identical on both sides, 1 repeated, 2 too long, "
        "1 with program markup"
    )


def test_misaligned_lines(tmp_path: Path) -> None:
    long = "A sentence that goes on for more than forty letters"
    write(tmp_path / "a.tsv", f"{long}\tEin kurzer.", "Yes.\tDas würde ich auch sagen.")
    report = prepared(tmp_path, {"data": "a.tsv"})["a.tsv"]
    assert report.left_out == {Left.MISALIGNED: 1}


def test_held_out_whatever_the_name(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", "Did Tom go?\tGing Tom?", "Did he go?\tGing er?")
    write(tmp_path / "dev.tsv", "Did John go?\tGing John?")
    men = {"words": ["Tom", "John"], "by": ["Paul", "Ben"]}
    prepared(tmp_path, {"data": "a.tsv"}, held_out=["dev.tsv"], exchanges=[men])
    assert rows(tmp_path, "a.tsv") == ["Did he go?\tGing er?"]


def test_weights_and_names_drawn_anew_for_each_copy(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", *(f"Tom has {n}.\tTom hat {n}." for n in range(400)))
    names = [f"Name{letter}" for letter in "abcdefghij"]
    men = {"words": ["Tom"], "by": names}
    report = prepared(tmp_path, {"data": "a.tsv", "weight": 2.5}, exchanges=[men])["a.tsv"]
    made = rows(tmp_path, "a.tsv")
    assert report.written == len(made) == pytest.approx(1_000, abs=60)
    assert {row.split()[0] for row in made} == set(names)
    assert all(row.split("\t")[0].split()[0] == row.split("\t")[1].split()[0] for row in made)
    copies = [row.split()[0] for row in made if row.endswith(" 7.")]
    assert len(copies) in (2, 3)

    kept = prepared(tmp_path, {"data": "a.tsv", "exchange": False}, exchanges=[men])
    assert kept["a.tsv"].written == 400
    assert all(row.startswith("Tom") for row in rows(tmp_path, "a.tsv"))


def test_lines_of_several_sentences(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", *(f"Say {n}.\tSag {n}." for n in range(300)), "No end\tKein Ende")
    report = prepared(tmp_path, {"data": "a.tsv", "join": 0.5})["a.tsv"]
    joined = rows(tmp_path, "a.tsv")[301:]
    assert report.joined == len(joined) == pytest.approx(150, abs=40)
    for row in joined:
        source, target = row.split("\t")
        assert target == source.replace("Say", "Sag")
        assert source.count("Say") in (2, 3)
    assert "lines of several" in report.summary()


def test_the_same_every_time(tmp_path: Path) -> None:
    write(tmp_path / "a.tsv", *(f"Say {n}.\tSag {n}." for n in range(50)))
    source = {"data": "a.tsv", "join": 0.5, "weight": 1.5}
    prepared(tmp_path, source)
    first = rows(tmp_path, "a.tsv")
    prepared(tmp_path, source)
    assert rows(tmp_path, "a.tsv") == first
    prepared(tmp_path, source, seed=2)
    assert rows(tmp_path, "a.tsv") != first


def test_the_lexicon_is_a_source(tmp_path: Path) -> None:
    prepared(tmp_path, {"data": "lexicon"})
    made = {tuple(row.split("\t")) for row in rows(tmp_path, "lexicon.tsv")}
    assert made == set(word_list())


def test_two_sources_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"would both be written to a\.tsv; rename one"):
        prepared(tmp_path, {"data": "a.tsv"}, {"data": "x/a.tsv"})


def test_a_corpus_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.tsv: No such file"):
        prepared(tmp_path, {"data": "none.tsv"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must contain"),
        ("{", "is not JSON"),
        ("{}", "needs the setting 'sources'"),
        ('{"sources": []}', "sources = "),
        ('{"sources": [{"data": "a", "weight": 0}]}', "weight = 0"),
        ('{"sources": [{"date": "a"}]}', "Source has no setting 'date'"),
        ('{"sources": [{"data": "a"}], "longest": 0}', "longest = 0"),
        ('{"sources": [{"data": "a"}], "lengths": 1}', "lengths = 1"),
    ],
)
def test_a_file_that_holds_no_recipe(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "recipe.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_recipe(tmp_path / "recipe.json")


def test_the_recipe_of_the_demo() -> None:
    recipe = read_recipe(RECIPES / "demo.json")
    for exchange in recipe.exchanges:
        assert len(set(exchange.by)) == len(exchange.by)
    phrases = read_aligned(str(RECIPES / "phrases.tsv")).pairs
    samples = json.loads((RECIPES.parent / "samples.json").read_text(encoding="utf-8"))
    shown = {
        sentence
        for group in samples
        for entry in group["sentences"]
        for sentence in ([entry] if isinstance(entry, str) else entry)
    }
    assert not shown & {source for source, _ in phrases}
    assert len(phrases) > 100
