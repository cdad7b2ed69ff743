from __future__ import annotations

from pathlib import Path

import pytest

from core.analysis.sample import read_sample
from core.errors import UserError


def test_generated_sentences_bring_their_gold() -> None:
    sample = read_sample("grammar", 5, seed=3)
    assert len(sample.gold) == 5
    assert sample.sources == tuple(sentence.source for sentence in sample.gold)
    assert sample.targets == tuple(sentence.target for sentence in sample.gold)
    assert {sentence.split for sentence in sample.gold} == {"test"}
    assert read_sample("grammar", 5, seed=4).sources != sample.sources


def test_of_translated_text_the_first_sources_with_all_their_translations(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("One.\tEins.\nTwo.\tZwei.\nOne.\tEine.\nThree.\tDrei.\n", encoding="utf-8")
    sample = read_sample(str(path), 2)
    assert sample.name == "a.tsv"
    assert sample.sources == ("One.", "Two.")
    assert sample.references == (("Eins.", "Eine."), ("Zwei.",))
    assert sample.targets == ("Eins.", "Zwei.")
    assert sample.gold == ()


def test_two_files_and_one_language(tmp_path: Path) -> None:
    english, german = tmp_path / "a.en", tmp_path / "a.de"
    english.write_text("One.\n\nOne.\nTwo.\n", encoding="utf-8")
    german.write_text("Eins.\n\nEine.\nZwei.\n", encoding="utf-8")
    both = read_sample(f"{english},{german}", 9)
    assert both.references == (("Eins.", "Eine."), ("Zwei.",))
    alone = read_sample(str(english), 9)
    assert alone.sources == ("One.", "Two.")
    assert alone.references == alone.targets == ()


def test_what_gives_no_sample(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n\n", encoding="utf-8")
    with pytest.raises(UserError, match="contains no sentences"):
        read_sample(str(empty), 9)
    with pytest.raises(UserError, match=r"sentences = 0"):
        read_sample("grammar", 0)
    with pytest.raises(UserError, match="nowhere"):
        read_sample(str(tmp_path / "nowhere.txt"), 9)
