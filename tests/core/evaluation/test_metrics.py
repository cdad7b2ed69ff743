from __future__ import annotations

import pytest
import sacrebleu

from core.evaluation.metrics import score, tokenizer_for

HYPOTHESES = ["Das Tier ist sehr müde.", "Ich sehe den alten Hund dort."]
FIRST = ["Das Tier war sehr müde.", "Ich sehe dort den alten Hund."]
SECOND = ["Das Tier ist sehr müde.", "Ich sehe den alten Hund da."]


def test_one_reference_each() -> None:
    scores = score(HYPOTHESES, [[text] for text in FIRST])
    assert scores.bleu == pytest.approx(sacrebleu.corpus_bleu(HYPOTHESES, [FIRST]).score)
    assert scores.chrf == pytest.approx(sacrebleu.corpus_chrf(HYPOTHESES, [FIRST]).score)
    assert scores.bleu_signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert scores.chrf_signature.startswith(
        "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:"
    )


def test_sentences_with_different_numbers_of_references() -> None:
    ragged = score(HYPOTHESES, [[FIRST[0], SECOND[0]], [FIRST[1]]])
    # A reference given twice changes nothing.
    filled = [FIRST, [SECOND[0], FIRST[1]]]
    assert ragged.bleu == pytest.approx(sacrebleu.corpus_bleu(HYPOTHESES, filled).score)
    assert ragged.chrf == pytest.approx(sacrebleu.corpus_chrf(HYPOTHESES, filled).score)
    assert ragged.bleu_signature.startswith("nrefs:var|")


def test_the_same_text_scores_a_hundred() -> None:
    scores = score(FIRST, [[text] for text in FIRST])
    assert (scores.bleu, scores.chrf) == (pytest.approx(100), pytest.approx(100))


def test_an_empty_translation_is_scored() -> None:
    assert score(["", FIRST[1]], [[text] for text in FIRST]).bleu < 100


@pytest.mark.parametrize("references", [[], [["a"]], [["a"], []]])
def test_every_sentence_needs_a_reference(references: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="reference"):
        score(["a", "b"], references)


def test_tokenised_text_is_taken_as_it_stands() -> None:
    hypotheses, references = ["a dog , which ran home !"], [["a dog, which ran home !"]]
    cut, whole = (score(hypotheses, references, tokenize=name) for name in ("13a", "none"))
    assert cut.bleu == pytest.approx(100)
    assert whole.bleu < 60
    assert "tok:none" in whole.bleu_signature


def test_a_test_set_is_in_the_signature_as_sacrebleu_names_it() -> None:
    scores = score(FIRST, [[text] for text in FIRST], test_set="wmt20", pair="en-de")
    for signature in (scores.bleu_signature, scores.chrf_signature):
        assert signature.startswith("nrefs:1|test:wmt20|lang:en-de|case:mixed|")


def test_languages_without_spaces_have_tokenizers_of_their_own() -> None:
    assert [tokenizer_for(language) for language in ("de", "zh", "ja")] == ["13a", "zh", "char"]
    text = ["我看见一只狗。", "他在睡觉。"]
    assert score(text, [[line] for line in text], tokenize="zh").bleu == pytest.approx(100)
