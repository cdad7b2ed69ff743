import pytest

from core.corpus.grammar.entries import Case, Degree, Gender, Name, Number
from core.corpus.grammar.lexicon import ADJECTIVES, NOUNS
from core.corpus.grammar.morphology import (
    Determiner,
    article,
    attributive,
    determiner_kind,
    english_adjective,
    english_noun,
    english_possessive,
    english_pronoun,
    english_relative,
    german_name_genitive,
    indefinite_article,
    noun_form,
    personal_pronoun,
    predicative,
    relative_pronoun,
)

NOUN = {noun.english: noun for noun in NOUNS}
ADJECTIVE = {adjective.english: adjective for adjective in ADJECTIVES}

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = Case
SINGULAR, PLURAL = Number
MASCULINE, FEMININE, NEUTER = Gender


@pytest.mark.parametrize(
    ("english", "singular", "plural"),
    [
        ("animal", "Tier Tier Tier Tiers", "Tiere Tiere Tieren Tiere"),
        ("street", "Straße Straße Straße Straße", "Straßen Straßen Straßen Straßen"),
        ("student", "Student Studenten Studenten Studenten", " ".join(["Studenten"] * 4)),
        ("neighbor", "Nachbar Nachbarn Nachbarn Nachbarn", " ".join(["Nachbarn"] * 4)),
        ("car", "Auto Auto Auto Autos", "Autos Autos Autos Autos"),
        ("house", "Haus Haus Haus Hauses", "Häuser Häuser Häusern Häuser"),
        ("museum", "Museum Museum Museum Museums", "Museen Museen Museen Museen"),
        ("bus", "Bus Bus Bus Busses", "Busse Busse Bussen Busse"),
        ("cactus", "Kaktus Kaktus Kaktus Kaktus", "Kakteen Kakteen Kakteen Kakteen"),
    ],
)
def test_noun_forms(english: str, singular: str, plural: str) -> None:
    noun = NOUN[english]
    assert [noun_form(noun, case) for case in Case] == singular.split()
    assert [noun_form(noun, case, PLURAL) for case in Case] == plural.split()


def test_a_noun_without_plural_says_so() -> None:
    with pytest.raises(ValueError, match="Regen has no plural"):
        noun_form(NOUN["rain"], NOMINATIVE, PLURAL)
    with pytest.raises(ValueError, match="rain has no plural"):
        english_noun(NOUN["rain"], PLURAL)


@pytest.mark.parametrize(
    ("kind", "masculine", "feminine", "neuter", "plural"),
    [
        ("der", "der den dem des", "die die der der", "das das dem des", "die die den der"),
        (
            "dieser",
            "dieser diesen diesem dieses",
            "diese diese dieser dieser",
            "dieses dieses diesem dieses",
            "diese diese diesen dieser",
        ),
        (
            "kein",
            "kein keinen keinem keines",
            "keine keine keiner keiner",
            "kein kein keinem keines",
            "keine keine keinen keiner",
        ),
        (
            "ihr",
            "ihr ihren ihrem ihres",
            "ihre ihre ihrer ihrer",
            "ihr ihr ihrem ihres",
            "ihre ihre ihren ihrer",
        ),
    ],
)
def test_articles(kind: str, masculine: str, feminine: str, neuter: str, plural: str) -> None:
    for gender, forms in zip(Gender, (masculine, feminine, neuter), strict=True):
        assert [article(kind, case, SINGULAR, gender) for case in Case] == forms.split()
        assert [article(kind, case, PLURAL, gender) for case in Case] == plural.split()


@pytest.mark.parametrize("kind", ["ein", "jeder"])
def test_articles_of_one_thing_have_no_plural(kind: str) -> None:
    assert article(kind, DATIVE, SINGULAR, NEUTER) in ("einem", "jedem")
    with pytest.raises(ValueError, match="has no plural"):
        article(kind, DATIVE, PLURAL)


def test_an_unknown_article_is_an_error() -> None:
    with pytest.raises(ValueError, match="'den' is not an article"):
        article("den", DATIVE)


@pytest.mark.parametrize(
    ("kind", "masculine", "feminine", "neuter", "plural"),
    [
        (
            "der",
            "müde müden müden müden",
            "müde müde müden müden",
            "müde müde müden müden",
            "müden müden müden müden",
        ),
        (
            "kein",
            "müder müden müden müden",
            "müde müde müden müden",
            "müdes müdes müden müden",
            "müden müden müden müden",
        ),
        (
            "",
            "müder müden müdem müden",
            "müde müde müder müder",
            "müdes müdes müdem müden",
            "müde müde müden müder",
        ),
    ],
)
def test_adjective_declension(
    kind: str, masculine: str, feminine: str, neuter: str, plural: str
) -> None:
    tired, kind_of = ADJECTIVE["tired"], determiner_kind(kind)
    for gender, forms in zip(Gender, (masculine, feminine, neuter), strict=True):
        singular = [attributive(tired, case, SINGULAR, gender, kind_of) for case in Case]
        assert singular == forms.split()
        many = [attributive(tired, case, PLURAL, gender, kind_of) for case in Case]
        assert many == plural.split()


@pytest.mark.parametrize(
    ("english", "attributive_forms", "predicative_forms"),
    [
        ("high", ("hohe", "höhere", "höchste"), ("hoch", "höher", "am höchsten")),
        ("dark", ("dunkle", "dunklere", "dunkelste"), ("dunkel", "dunkler", "am dunkelsten")),
        ("expensive", ("teure", "teurere", "teuerste"), ("teuer", "teurer", "am teuersten")),
        ("sour", ("saure", "saurere", "sauerste"), ("sauer", "saurer", "am sauersten")),
        ("quiet", ("leise", "leisere", "leiseste"), ("leise", "leiser", "am leisesten")),
        ("big", ("große", "größere", "größte"), ("groß", "größer", "am größten")),
        ("good", ("gute", "bessere", "beste"), ("gut", "besser", "am besten")),
        ("wide", ("breite", "breitere", "breiteste"), ("breit", "breiter", "am breitesten")),
        ("healthy", ("gesunde", "gesündere", "gesündeste"), None),
        ("exciting", ("spannende", "spannendere", "spannendste"), None),
        ("narrow", ("schmale", "schmalere", "schmalste"), None),
        ("short", ("kurze", "kürzere", "kürzeste"), None),
    ],
)
def test_comparison(
    english: str,
    attributive_forms: tuple[str, ...],
    predicative_forms: tuple[str, ...] | None,
) -> None:
    adjective = ADJECTIVE[english]
    cell = (NOMINATIVE, SINGULAR, FEMININE, Determiner.DEFINITE)
    assert tuple(attributive(adjective, *cell, degree) for degree in Degree) == attributive_forms
    if predicative_forms is not None:
        assert tuple(predicative(adjective, degree) for degree in Degree) == predicative_forms


def test_english_comparison() -> None:
    def forms(english: str) -> list[str]:
        return [english_adjective(ADJECTIVE[english], degree) for degree in Degree]

    assert forms("big") == ["big", "bigger", "biggest"]
    assert forms("easy") == ["easy", "easier", "easiest"]
    assert forms("careful") == ["careful", "more careful", "most careful"]
    assert forms("good") == ["good", "better", "best"]


def test_what_is_not_graded_has_no_comparison() -> None:
    red = ADJECTIVE["red"]
    assert attributive(red, DATIVE, SINGULAR, NEUTER, Determiner.NONE) == "rotem"
    with pytest.raises(ValueError, match="red has no comparative"):
        english_adjective(red, Degree.COMPARATIVE)
    with pytest.raises(ValueError, match="red has no superlative"):
        predicative(red, Degree.SUPERLATIVE)


def test_german_pronouns() -> None:
    def personal(gender: Gender) -> list[str]:
        return [personal_pronoun(case, SINGULAR, gender) for case in Case][:3]

    assert personal(MASCULINE) == ["er", "ihn", "ihm"]
    assert personal(FEMININE) == ["sie", "sie", "ihr"]
    assert personal(NEUTER) == ["es", "es", "ihm"]
    assert personal_pronoun(DATIVE, PLURAL) == "ihnen"

    def relative(number: Number, gender: Gender) -> list[str]:
        return [relative_pronoun(case, number, gender) for case in Case]

    assert relative(SINGULAR, MASCULINE) == ["der", "den", "dem", "dessen"]
    assert relative(SINGULAR, FEMININE) == ["die", "die", "der", "deren"]
    assert relative(SINGULAR, NEUTER) == ["das", "das", "dem", "dessen"]
    assert relative(PLURAL, NEUTER) == ["die", "die", "denen", "deren"]


def test_english_pronouns() -> None:
    assert [english_pronoun("he", case) for case in Case] == ["he", "him", "him", "his"]
    assert [english_pronoun("it", case) for case in Case] == ["it", "it", "it", "its"]
    assert [english_relative(True, case) for case in Case] == ["who", "whom", "whom", "whose"]
    assert [english_relative(False, case) for case in Case] == [*["which"] * 3, "whose"]


def test_possessives() -> None:
    assert english_possessive("dog") == "dog's"
    assert english_possessive("dogs", PLURAL) == "dogs'"
    assert english_possessive("men", PLURAL) == "men's"
    assert english_possessive("boss") == "boss's"
    assert german_name_genitive(Name(text="Anna", pronoun="she")) == "Annas"
    assert german_name_genitive(Name(text="Max", pronoun="he")) == "Max'"


def test_indefinite_articles_go_by_sound() -> None:
    by_sound = {
        "an": "animal honest hour uncle ugly umbrella unpleasant understandable uninteresting egg",
        "a": "dog university uniform useful useless house historic union European yellow",
    }
    for expected, words in by_sound.items():
        assert [indefinite_article(word) for word in words.split()] == [expected] * len(
            words.split()
        )
