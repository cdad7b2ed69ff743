import pytest

from core.corpus.grammar.dependencies import DependencyKind, Side
from core.corpus.grammar.generate import generate, minimal_pairs
from core.corpus.grammar.pairs import pair_distance
from core.corpus.grammar.sentence import Sentence
from core.errors import UserError


def ends(sentence: Sentence, side: Side) -> tuple[int, int]:
    (link,) = (
        (entry.start, entry.end)
        for entry in sentence.dependencies
        if entry.kind is DependencyKind.COREFERENCE and entry.side is side
    )
    return link


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_pair_differs_in_the_adjective_and_in_the_pronoun(split: str) -> None:
    names = set()
    for first, second in minimal_pairs(150, seed=5, split=split):
        changed = [
            tag
            for tag, one, other in zip(
                first.source_tags, first.source_words, second.source_words, strict=True
            )
            if one != other
        ]
        assert changed == ["adjective"]
        it, antecedent = ends(first, Side.SOURCE)
        other_it, other_antecedent = ends(second, Side.SOURCE)
        assert it == other_it
        assert antecedent != other_antecedent
        assert first.source_words[it].lower() == "it"
        pronouns = {
            each.target_words[ends(each, Side.TARGET)[0]].lower() for each in (first, second)
        }
        assert len(pronouns) == 2
        assert pronouns < {"er", "sie", "es"}
        assert first.pair == second.pair
        assert first.pair is not None
        names.add(first.pair)
    assert len(names) == 150


@pytest.mark.parametrize("distance", [0, 1, 4, 8, 12])
def test_the_distance_can_be_chosen(distance: int) -> None:
    for first, second in minimal_pairs(3, seed=2, distance=distance):
        assert pair_distance(first) == pair_distance(second) == distance


def test_both_orders_of_distance_and_antecedent_occur() -> None:
    pairs = list(minimal_pairs(400, seed=3))
    distances = {pair_distance(first) for first, _ in pairs}
    assert {None, 0, 1, 2, 3, 4, 5} <= distances
    antecedents = [[ends(each, Side.SOURCE)[1] for each in pair] for pair in pairs]
    assert any(first < second for first, second in antecedents)
    assert any(first > second for first, second in antecedents)


def test_pairs_are_deterministic() -> None:
    assert list(minimal_pairs(5, seed=1, split="test")) == list(
        minimal_pairs(5, seed=1, split="test")
    )


def test_a_stream_names_its_pairs() -> None:
    sentences = list(generate(200, seed=8, families=["coreference"]))
    pairs = {sentence.pair for sentence in sentences if sentence.pair}
    assert len(pairs) > 40
    for name in sorted(pairs):
        assert sum(sentence.pair == name for sentence in sentences) in (1, 2)


def test_wrong_distances_are_said() -> None:
    with pytest.raises(UserError, match="distance 13 is not between 0 and 12"):
        next(minimal_pairs(1, seed=1, distance=13))
