from __future__ import annotations

import pytest

from core.decoding import translate as module
from core.decoding.config import SearchConfig
from core.decoding.search import search
from core.decoding.translate import Translation, translate
from core.errors import UserError
from core.text.sentence_pieces import train_tokenizer
from tests.core.model.small import small_transformer

TOKENIZER = train_tokenizer(
    ["das Tier war zu müde", "the animal was too tired", "die Straße war zu breit"], 60
)
MODEL = small_transformer(vocab_size=TOKENIZER.vocab_size)
SHORT = SearchConfig(max_extra=4)
TEXTS = [
    "the animal was too tired and the animal was too tired",
    "",
    "das Tier",
    " \t\u3000",
    "the animal",
    "x",
]


@pytest.mark.parametrize("config", [SHORT, SearchConfig(beam=3, max_extra=4)], ids=str)
@pytest.mark.parametrize("positions", [1, 40, 8192])
def test_one_in_one_out_in_order_whatever_the_batches(
    config: SearchConfig, positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CACHE_POSITIONS", positions)
    told: list[int] = []
    translations = translate(MODEL, TOKENIZER, TEXTS, config, progress=told.append)
    assert len(translations) == len(TEXTS)
    assert told == ([3, 4, 5, 6] if positions == 1 else sorted(set(told)))
    assert told[-1] == len(TEXTS)
    for text, translation in zip(TEXTS, translations, strict=True):
        if not text.strip():
            assert translation == Translation("", (), 0.0, 0.0)
            continue
        ((best, *_),) = search(MODEL, [TOKENIZER.encode(text)], config)
        assert translation.ids == best.ids
        assert translation.text == TOKENIZER.decode(best.ids)
        assert translation.log_probability == pytest.approx(best.log_probability, abs=1e-4)
        assert translation.score == pytest.approx(best.score, abs=1e-4)


def test_nothing_in_nothing_out() -> None:
    assert translate(MODEL, TOKENIZER, []) == []
    assert translate(MODEL, TOKENIZER, [""]) == [Translation()]


@pytest.mark.parametrize(
    "text",
    [
        "\ud800 lone \udfff",
        "nul \0 and \x1b[31m escape",
        "</s> <s> <pad> <unk> <b>",
        "👩‍👩‍👧 駅 שלום مرحبا \u202e",
        "line\nbreak\r\u2028",
        "ﬁ" * 30,
    ],
)
def test_any_text_gives_one_line(text: str) -> None:
    (translation,) = translate(MODEL, TOKENIZER, [text], SHORT)
    assert "\n" not in translation.text
    translation.text.encode("utf-8")


def test_a_text_longer_than_the_learned_positions_is_the_users_error() -> None:
    model = small_transformer(
        vocab_size=TOKENIZER.vocab_size, positions="learned", max_positions=10
    )
    with pytest.raises(UserError, match="10 positions"):
        translate(model, TOKENIZER, ["the animal", "the animal " * 20])


def test_a_check_ends_the_translation() -> None:
    def check() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        translate(MODEL, TOKENIZER, TEXTS, check=check)
