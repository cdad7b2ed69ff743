from __future__ import annotations

from core.analysis.doubting import translation_doubts
from core.bundled import model_path
from core.checkpoints.native import load_checkpoint
from core.decoding.translate import translate
from core.text.function_words import ENGLISH
from core.text.seen_words import SeenWords
from core.trace.doubts import target_words
from core.trace.record import trace_text


def test_they_are_those_of_each_translation() -> None:
    plain = load_checkpoint(model_path("plain-en-de"))
    texts = ["The king loves his old dog.", " ", "The zebu brexits."]
    translations = translate(plain.model, plain.tokenizer, texts)
    told: list[int] = []
    found = translation_doubts(
        plain.model,
        plain.tokenizer,
        texts,
        translations,
        seen=SeenWords.of_model(plain.provenance),
        function_words=ENGLISH,
        progress=told.append,
    )
    assert told == [1, 2]
    sure, blank, unsure = found
    assert (sure.guesses, sure.unsure, sure.untranslated) == (0, (), ())
    assert (blank.words, blank.share) == (0, 0)
    assert [word.word for word in unsure.unsure] == ["zebu", "brexits"]
    trace = trace_text(plain.model, plain.tokenizer, texts[2])
    assert trace.log_probabilities is not None
    words = target_words(trace.predicted_tokens, trace.log_probabilities)
    assert unsure.guesses == sum(word.is_guess for word in words)
    (one,) = translation_doubts(plain.model, plain.tokenizer, texts[2:], translations[2:])
    assert (one.unsure, one.untranslated) == ((), ())
