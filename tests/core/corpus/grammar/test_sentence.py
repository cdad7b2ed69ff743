from hypothesis import given
from hypothesis import strategies as st

from core.corpus.grammar.dependencies import Dependency, DependencyKind, Side
from core.corpus.grammar.sentence import (
    Composition,
    English,
    German,
    Tree,
    detokenise,
    finish,
    word_spans,
)

WORDS = ("The", "animal", "didn't", "cross", ",", "because", "it", ".")


def test_detokenise_attaches_punctuation_marks_only() -> None:
    assert detokenise(WORDS) == "The animal didn't cross, because it."
    assert detokenise(()) == ""


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_word_spans_recover_every_word(words: list[str]) -> None:
    text = detokenise(words)
    assert [text[start:end] for start, end in word_spans(words)] == words


def test_finish_numbers_words_and_drops_superfluous_commas() -> None:
    dog, sleeps = English("dog", "noun"), English("sleeps", "verb")
    german_dog, german_sleeps = German("Hund", dog), German("schläft", sleeps)
    composition = Composition(
        Tree("S", Tree("NP", dog), Tree("VP", sleeps)),
        [german_dog, German(","), German(","), german_sleeps, German(",")],
        [
            (DependencyKind.SUBJECT_VERB, sleeps, dog),
            (DependencyKind.SUBJECT_VERB, german_sleeps, german_dog),
        ],
    )
    sentence = finish(composition, family="simple", split="train")
    assert sentence.source == "Dog sleeps."
    assert sentence.target == "Hund, schläft."
    assert sentence.tree == "(S (NP Dog) (VP sleeps) .)"
    assert sentence.source_tags == ("noun", "verb", "punctuation")
    assert sentence.alignment == ((0, 0), (1, 2), (2, 3))
    assert sentence.dependencies == (
        Dependency(DependencyKind.SUBJECT_VERB, Side.SOURCE, 1, 0),
        Dependency(DependencyKind.SUBJECT_VERB, Side.TARGET, 2, 0),
    )


def test_to_dict_has_the_published_fields() -> None:
    word = English("dog", "noun")
    composition = Composition(Tree("S", word), [German("Hund", word)], [])
    sentence = finish(composition, family="simple", split="train").with_pair("p")
    assert sentence.to_dict() == {
        "source": "Dog.",
        "target": "Hund.",
        "family": "simple",
        "split": "train",
        "source_words": ["Dog", "."],
        "target_words": ["Hund", "."],
        "source_tags": ["noun", "punctuation"],
        "alignment": [[0, 0], [1, 1]],
        "dependencies": [],
        "tree": "(S Dog .)",
        "pair": "p",
    }
