from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch

from core.analysis.pruning import prune
from core.config import ModelConfig
from core.corpus.grammar.dependencies import Side
from core.corpus.grammar.generate import generate, minimal_pairs
from core.corpus.grammar.sentence import Sentence, word_spans
from core.decoding.config import SearchConfig
from core.evaluation import gold
from core.evaluation.pronouns import as_pieces, coreference, observe
from core.heads import AttentionKind, read_head
from core.model.initialisation import initialise
from core.model.recording import Recording
from core.model.transformer import Transformer
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return [sentence for pair in minimal_pairs(12, seed=3, split="test") for sentence in pair]


@pytest.fixture(scope="module")
def tokenizer(sentences: list[Sentence]) -> Tokenizer:
    """So few pieces that most words are several."""
    texts = [text for each in sentences for text in (each.source, each.target)]
    return train_tokenizer(texts, 160)


@pytest.fixture(scope="module")
def model(tokenizer: Tokenizer) -> Transformer:
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=16,
        encoder_layers=3,
        decoder_layers=2,
        encoder_heads=4,
        decoder_heads=2,
        encoder_d_ff=32,
        decoder_d_ff=32,
    )
    result = Transformer(config)
    initialise(result, seed=1)
    return result.eval()


def test_pieces_of_it_and_of_the_pronoun(sentences: list[Sentence], tokenizer: Tokenizer) -> None:
    for sentence in sentences:
        pieces = as_pieces(sentence, tokenizer)
        it, antecedent = coreference(sentence, Side.SOURCE).start, pieces.antecedent_word
        assert sentence.source_words[it].lower() == "it"
        assert pieces.source_words[pieces.it_piece] == it
        assert pieces.source_words[pieces.it_piece - 1] != it or pieces.it_piece == 0
        pronoun = tokenizer.decode([pieces.target[at] for at in pieces.pronoun_pieces])
        assert pronoun.lower() in ("er", "sie", "es", "ihn")
        assert pronoun == sentence.target_words[coreference(sentence, Side.TARGET).start]
        spelled = [
            piece
            for piece, word in zip(pieces.source, pieces.source_words, strict=False)
            if word == antecedent
        ]
        assert tokenizer.decode(spelled) == sentence.source_words[antecedent]


def test_a_pruned_head_sees_nothing_and_the_others_keep_their_numbers(
    model: Transformer, tokenizer: Tokenizer, sentences: list[Sentence]
) -> None:
    """Heads of the last layers, so that nothing changes before the others look."""
    pieces = [as_pieces(sentence, tokenizer) for sentence in sentences]
    pruned = ["encoder_self.2.0", "encoder_self.2.2", "cross.1.0", "cross.1.1"]
    smaller, kept = prune(model, map(read_head, pruned)), [1, 3]
    before, after = observe(model, pieces), observe(smaller, pieces)
    np.testing.assert_allclose(
        after.encoder_weight[:, 2, kept], before.encoder_weight[:, 2, kept], atol=1e-5
    )
    np.testing.assert_array_equal(after.encoder_hit[:, :2], before.encoder_hit[:, :2])
    assert np.isnan(after.encoder_weight[:, 2, [0, 2]]).all()
    assert np.isnan(after.cross_weight[:, 1]).all()
    assert not after.encoder_hit[:, 2, [0, 2]].any()
    assert not after.cross_hit[:, 1].any()


def test_a_batch_sees_what_a_slow_pass_over_each_sentence_sees(
    model: Transformer, tokenizer: Tokenizer, sentences: list[Sentence]
) -> None:
    observed = observe(model, [as_pieces(sentence, tokenizer) for sentence in sentences])
    for index, sentence in enumerate(sentences):
        pieces = as_pieces(sentence, tokenizer)
        source = torch.tensor([pieces.source])
        target_in = torch.tensor([[model.config.bos_id, *pieces.target[:-1]]])
        recording = Recording()
        with torch.no_grad():
            memory = model.encode(source, recording)
            hidden = model.decode(target_in, memory, source, recording)
            best = model.logits(hidden)[0].argmax(-1).tolist()
        assert observed.predicted[index] == all(
            best[at] == pieces.target[at] for at in pieces.pronoun_pieces
        )
        ends = [end for _, end in word_spans(sentence.source_words)]
        ends_before = [0, *ends[:-1]]
        tokens = tokenizer.tokens(sentence.source)
        for kind, row, hit, weight in (
            ("encoder_self", pieces.it_piece, observed.encoder_hit, observed.encoder_weight),
            ("cross", pieces.pronoun_pieces[0], observed.cross_hit, observed.cross_weight),
        ):
            for layer, projections in enumerate(getattr(recording, kind)):
                scores = projections.query @ projections.key.transpose(-2, -1)
                weights = (scores / projections.query.shape[-1] ** 0.5).softmax(-1)[0, :, row]
                for head, on_pieces in enumerate(weights.tolist()):
                    by_word = [
                        sum(
                            on_pieces[at]
                            for at, token in enumerate(tokens)
                            if before < max(1, token.end) <= end
                        )
                        for before, end in zip(ends_before, ends, strict=True)
                    ]
                    antecedent = by_word[pieces.antecedent_word]
                    assert weight[index, layer, head] == pytest.approx(antecedent, abs=1e-5)
                    heaviest = max(*by_word, on_pieces[-1])
                    assert hit[index, layer, head] == (heaviest <= antecedent + 1e-7)


def test_pairs_are_right_in_the_first_the_second_or_both() -> None:
    right = np.array([True, True, True, False, False, True, True, True])
    assert gold.pair_score(right) == gold.PairScore(75.0, 75.0, 50.0)


def test_words_come_apart_as_the_grammar_joined_them() -> None:
    for sentence in generate(50, seed=5, split="test"):
        assert gold.split_words(sentence.target) == list(sentence.target_words)


def test_the_pronoun_must_stand_in_its_place(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        place = coreference(sentence, Side.TARGET).start
        assert gold.has_right_pronoun(sentence.target, sentence)
        words = list(sentence.target_words)
        words[place] = "wir"
        assert not gold.has_right_pronoun(" ".join(words), sentence)
        assert not gold.has_right_pronoun("", sentence)


def test_heads_are_chosen_on_training_pairs_and_scored_on_held_out_ones(
    model: Transformer,
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the passes find is replaced: on training pairs head (2, 1) is always right, on
    held-out ones head (0, 0) is, and (2, 1) in every first sentence.
    """
    splits: list[str] = []
    real_pairs = gold.minimal_pairs

    def watched_pairs(count: int, *, seed: int, split: str) -> object:
        splits.append(split)
        return real_pairs(count, seed=seed, split=split)

    def fake_observe(_: Transformer, pieces: list[object]) -> object:
        observed = observe(model, pieces)  # type: ignore[arg-type]
        hit = np.zeros_like(observed.encoder_hit)
        if len(pieces) == 2 * gold.CHOOSING_PAIRS:
            hit[:, 2, 1] = True
        else:
            hit[:, 0, 0] = True
            hit[0::2, 2, 1] = True
        return dataclasses.replace(observed, encoder_hit=hit)

    monkeypatch.setattr(gold, "minimal_pairs", watched_pairs)
    monkeypatch.setattr(gold, "observe", fake_observe)
    monkeypatch.setattr(gold, "CHOOSING_PAIRS", 5)
    told: list[int] = []
    report = gold.gold_report(
        model,
        tokenizer,
        sentences=20,
        pairs=8,
        seed=1,
        search=SearchConfig(max_length=8),
        progress=told.append,
    )
    assert told == sorted(told)
    assert told[-1] == 20 + 2 * 8
    assert sorted(splits) == ["test", "train"]
    head = report.encoder_head
    assert head is not None
    assert (head.layer, head.head) == (2, 1)
    assert head.antecedent == gold.PairScore(100.0, 0.0, 0.0)
    assert report.exact == 0.0
    assert set(report.exact_by_family) == {
        sentence.family for sentence in generate(20, seed=1, split="test")
    }
    assert report.to_dict()["encoder_head"]["antecedent"]["first"] == 100.0


def scored(layer: int, both: float | None) -> gold.HeadScore | None:
    if both is None:
        return None
    return gold.HeadScore(layer, 1, gold.PairScore(both, both, both), 0.5)


def reported(encoder: gold.HeadScore | None, cross: gold.HeadScore | None) -> gold.GoldReport:
    everything = gold.PairScore(100.0, 100.0, 100.0)
    return gold.GoldReport(
        sentences=1,
        pairs=1,
        exact=100.0,
        exact_by_family={},
        pronoun_forced=everything,
        pronoun_decoded=everything,
        encoder_head=encoder,
        cross_head=cross,
    )


@pytest.mark.parametrize(
    ("encoder", "cross", "kind"),
    [
        (80.0, 10.0, "encoder_self"),
        (90.0, 97.5, "encoder_self"),
        (89.0, 97.5, "cross"),
        (0.0, 97.5, "cross"),
        (None, 0.0, "cross"),
        (0.0, None, "encoder_self"),
    ],
)
def test_the_better_head_is_opened_on_and_of_two_good_ones_the_encoders(
    encoder: float | None, cross: float | None, kind: str
) -> None:
    report = reported(scored(2, encoder), scored(5, cross))
    layer = 2 if kind == "encoder_self" else 5
    assert report.it_head() == {"kind": kind, "layer": layer, "head": 1}


def test_of_a_kind_without_heads_none_is_the_best(
    model: Transformer, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gold, "CHOOSING_PAIRS", 5)
    crossing = [head for head in model.config.every_head() if head.kind is AttentionKind.CROSS]
    others = [read_head(f"encoder_self.{layer}.{head}") for layer in range(3) for head in range(4)]
    left = others.pop()

    def report(pruned: Transformer) -> gold.GoldReport:
        return gold.gold_report(
            pruned,
            tokenizer,
            sentences=2,
            pairs=2,
            seed=1,
            search=SearchConfig(max_length=2),
            progress=lambda done: None,
        )

    found = report(prune(model, [*crossing, *others]))
    assert found.cross_head is None
    assert found.it_head() == {"kind": "encoder_self", "layer": left.layer, "head": left.head}
    assert "NaN" not in json.dumps(found.to_dict())
    assert reported(None, None).it_head() is None
