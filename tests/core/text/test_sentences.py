"""Sentences are written here with | between them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.abbreviations import stop_rules
from core.text.sentences import WIDE_STOPS, find_sentences


def split(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in find_sentences(text, language)]


ENGLISH = """
Mr. Smith paid $3.50. | He left.
J. R. R. Tolkien wrote it. | C. S. Lewis read it.
John F. Kennedy, Jr. was there. | So was J.-P. Sartre.
It was you and I. | She left.
Plan B. | It failed.
She has a Ph.D. | She lives in the U.S. | The U.S. Army left.
He came at 5 p.m. | Then he slept until 6 a.m. Monday.
It was No. 5. | No. | I won't.
See p. 5, Fig. 2 and vol. XII. | It is e.g. The Times, i.e. a paper.
Smith Inc. sells cars. | They are from Smith Inc. | She knows.
Is it on Main St. | The shop was in St. Louis.
He is 30. | She is 40. | Elizabeth II. | The end.
Visit www.example.com. | Open file.txt, v1.2.3 or http://a.b/c?d=e. | Done.
Wait... | What? | Well... I see. | Well... perhaps not.
Really?! | Yes!!! | How are you? | i am fine.
“Are you tired?” asked the king. | “Yes!” | She slept.
"I am tired." | "So am I," he said.
(It was late.) | The king (what a man! so old) slept. | He saw a dog (it was old. And grey). | Yes.
It slept.[1] | It woke.[2][3] | The end.
Great! | 😀 The dog slept. :)
1. The animal slept. | 2. The street was wide.
It slept. | – Did it?
It was 3 o'clock . | Then it slept .
"""

GERMAN = """
Am 3. Oktober kam Dr. Meyer. | Er ist 30. | Sie ist 20.
Im 19. Jahrhundert war der 1. FC Köln noch nicht da. | Das war 1990. | Danach kam er.
Ludwig XIV. König von Frankreich. | Er schlief.
Er mag Obst, z. B. Äpfel, d. h. viel. | Das kostet ca. 3,50 Euro bzw. Mark.
Es gab Äpfel, Birnen usw. | Danach ging er. | Es sind 5 Mio. Euro.
Das war 50 v. Chr. | Die Römer kamen. | Das war 50 v. Chr. Geburt.
„Bist du müde?“ fragte er. | „Ja.“ | Sie schlief. | »Komm!« | Er kam.
Siehe Nr. 5 und Abb. 3 auf S. 12. | Das ist alles.
Prof. Dr. J. S. Bach u. a. Leute kamen. | Hr. Müller blieb.
"""

OTHERS = {
    "fr": """
« Bonjour. » | Il est là. | Comment ça va ? | Bien ! | M. Dupont est là.
""",
    "es": """
¿Dónde estás? | ¡Aquí! | El Sr. García y la Dra. Ruiz llegaron. | Ud. Sabe eso.
""",
    "it": """
Il Sig. Rossi è qui. | È tardi.
""",
    "pt": """
O Sr. Silva chegou. | Ele dorme.
""",
    "nl": """
Dhr. Jansen slaapt. | Hij is moe, bijv. nu.
""",
    "ru": """
Г-н Иванов и проф. Петров пришли в 1990 г. | Они спали, т. е. отдыхали.
""",
    "zh": """
你好。|你好吗？|我很好！| 他说：“走吧。”然后走了。
""",
    "ja": """
「おはよう。」と言った。|元気？|「はい。」|「いいえ。」
""",
    "ar": """
هل أنت متعب؟ | نعم. | نام الحيوان.
""",
    "hi": """
जानवर थका था। | वह सो गया।|कब?
""",
    "": """
Mr. Smith slept. | Dr. Meyer also. | It was late.
""",
}

CASES = [
    (language, line)
    for language, table in {"en": ENGLISH, "de": GERMAN, **OTHERS}.items()
    for line in table.strip().split("\n")
]


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_sentences_of_many_languages(language: str, marked: str) -> None:
    expected = [one.strip() for one in marked.split("|")]
    assert split(marked.replace("|", ""), language) == expected


def test_an_empty_line_ends_a_sentence_and_a_line_end_does_not() -> None:
    text = "A title\n \nThe dog slept\nin the house. It woke.\n"
    assert split(text, "en") == ["A title", "The dog slept\nin the house.", "It woke."]


def test_whoever_writes_no_capitals_begins_sentences_without_them() -> None:
    assert split("it was tired. it slept. approx. five came.", "en") == [
        "it was tired.",
        "it slept.",
        "approx. five came.",
    ]
    assert split("It was tired. it slept.", "en") == ["It was tired. it slept."]


def test_a_space_that_does_not_break_ends_no_sentence() -> None:
    assert split("Das gilt S.\u00a0B. Meyer. Er kam.", "de") == [
        "Das gilt S.\u00a0B. Meyer.",
        "Er kam.",
    ]


def test_the_language_decides() -> None:
    text = "Das ist Nr. 3. Oktober ist es."
    assert split(text, "de") == [text]
    assert split(text, "en")[-1] == "Oktober ist es."
    assert stop_rules("de") is stop_rules("deu_Latn") is stop_rules("de-AT")
    assert stop_rules("xx") is stop_rules("") is stop_rules("en")


@pytest.mark.parametrize("text", ["", " \n\t\n ", "\u2028"])
def test_white_space_has_no_sentence(text: str) -> None:
    assert find_sentences(text) == []


PIECES = st.sampled_from(
    [
        *("Dr", "No", "it", "The", "3", "I", "z", "B", ".", "?", "...", "。", "؟", "”", "“"),
        *("(", ")", "]", " ", "  ", "\n", "\n\n", "\u00a0", "好", "😀"),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=60))


@given(TEXTS, st.sampled_from(["", "en", "de", "fr", "zh"]))
def test_nothing_but_white_space_is_between_sentences(text: str, language: str) -> None:
    spans = find_sentences(text, language)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    gaps = [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    assert all(not gap.strip() for gap in gaps)
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""


@given(TEXTS, st.sampled_from(["en", "de"]))
def test_sentences_end_at_a_stop_and_begin_behind_a_space(text: str, language: str) -> None:
    """But for those that an empty line ends, and for stops of scripts without spaces."""
    spans = find_sentences(text, language)
    for before, after in pairwise(spans):
        gap = text[before.end : after.start]
        if gap.count("\n") < 2:
            ending = text[before.start : before.end].rstrip("\"'”’“‘»«›‹)]}*_」』）】》〉］｝")
            assert ending[-1] in f".!?…؟{WIDE_STOPS}"
            assert gap or any(stop in text[before.start : before.end] for stop in WIDE_STOPS)


@pytest.mark.parametrize("piece", [". ", "a. ", "! ", "( a. ", "I. A ", "z. B. ", "a\n\n"])
def test_many_stops_in_a_row(piece: str) -> None:
    """A rule that looked far ahead or back at each of them would run into the time limit."""
    text = piece * 5_000
    assert find_sentences(text, "en")[-1].end == len(text.rstrip())
