"""Other people's dictionaries accept every word that the grammar puts into a sentence."""

import shutil
import subprocess

import pytest

from core.corpus.grammar.generate import generate


@pytest.mark.parametrize(
    ("dictionary", "side"), [("en_US", "source_words"), ("de_DE", "target_words")]
)
def test_every_generated_word_is_a_word(dictionary: str, side: str) -> None:
    if shutil.which("hunspell") is None:
        pytest.skip("hunspell is not installed (Debian: hunspell hunspell-en-us hunspell-de-de)")
    words = {
        word
        for split in ("train", "test")
        for sentence in generate(4000, seed=9, split=split)
        for word in getattr(sentence, side)[1:]  # the first one is capitalised
    }
    done = subprocess.run(
        ["hunspell", "-d", dictionary, "-i", "utf-8", "-l"],
        input="\n".join(sorted(words)),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if "Can't open" in done.stderr:
        pytest.skip(f"the hunspell dictionary {dictionary} is not installed")
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == set()
