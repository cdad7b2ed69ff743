import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.passage import Passage

TEXT = " The animal slept.  It was tired.\nThe end. "


def test_a_text_of_one_sentence_is_asked_as_it_is() -> None:
    for text in ("", "  ", " The animal slept. ", "Mr. Smith slept."):
        passage = Passage.of(text, "en")
        assert passage.questions == (text,)
        assert passage == Passage.whole(text)
        assert passage.origin(0) == 0
        assert passage.joined(["Das Tier schlief."]) == "Das Tier schlief."


def test_a_text_of_several_is_asked_sentence_by_sentence() -> None:
    passage = Passage.of(TEXT, "en")
    assert passage.questions == ("The animal slept.", "It was tired.", "The end.")
    assert [passage.origin(index) for index in range(3)] == [1, 20, 34]
    assert passage.joined(["Eins.", "Zwei.", "Drei."]) == "Eins.  Zwei.\nDrei."
    assert Passage.whole(TEXT).questions == (TEXT,)


@pytest.mark.parametrize(
    ("place", "index"), [(0, 0), (1, 0), (18, 0), (19, 0), (20, 1), (33, 1), (34, 2), (43, 2)]
)
def test_a_place_belongs_to_the_sentence_that_began_last(place: int, index: int) -> None:
    assert Passage.of(TEXT, "en").at(place) == index


def test_the_language_token_goes_with_every_sentence() -> None:
    text = ">>deu<< It slept. It woke."
    passage = Passage.of(text, "en", (">>deu<<", ">>fra<<"))
    assert passage.questions == (">>deu<< It slept.", ">>deu<< It woke.")
    for index, question in enumerate(passage.questions):
        place = question.index("It")
        assert text[passage.origin(index) + place :].startswith("It")
    assert Passage.of(text, "en").questions == (">>deu<< It slept.", "It woke.")
    assert Passage.of(text, "en", (">>nld<<",)).questions[1] == "It woke."


def test_a_space_separates_translations_where_the_text_has_none() -> None:
    passage = Passage.of("你好。你好吗？", "zh")
    assert passage.joined(["Hello.", "How are you?"]) == "Hello. How are you?"
    assert passage.joined(["你好。", "你好吗？"]) == "你好。你好吗？"


@given(st.text(alphabet="aA. ?\n。", max_size=40))
def test_the_sentences_joined_are_the_text(text: str) -> None:
    passage = Passage.of(text, "en")
    sentences = [text[start:end] for start, end in passage.spans]
    joined = "".join(
        text[before.end : after.start] + sentence
        for before, after, sentence in zip(
            passage.spans, passage.spans[1:], sentences[1:], strict=False
        )
    )
    assert sentences[0] + joined == text[passage.spans[0].start : passage.spans[-1].end]
    assert not (text[: passage.spans[0].start] + text[passage.spans[-1].end :]).strip()
