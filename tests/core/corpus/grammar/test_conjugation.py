import pytest

from core.corpus.grammar.conjugation import (
    GERMAN_AUXILIARIES,
    MODALS,
    english_finite,
    finite,
    verb_final,
)
from core.corpus.grammar.entries import Number, Tense
from core.corpus.grammar.lexicon import VERBS

GERMAN = {verb.german.infinitive: verb.german for verb in VERBS}
ENGLISH = {verb.english.base: verb.english for verb in VERBS}


def third_person(forms) -> list[str]:
    tenses = (Tense.PRESENT, Tense.PAST)
    return [finite(forms, tense, number) for tense in tenses for number in Number]


@pytest.mark.parametrize(
    ("infinitive", "expected", "participle", "auxiliary"),
    [
        ("sehen", "sieht sehen sah sahen", "gesehen", "haben"),
        ("geben", "gibt geben gab gaben", "gegeben", "haben"),
        ("ähneln", "ähnelt ähneln ähnelte ähnelten", "geähnelt", "haben"),
        ("überqueren", "überquert überqueren überquerte überquerten", "überquert", "haben"),
        ("folgen", "folgt folgen folgte folgten", "gefolgt", "sein"),
        ("anrufen", "ruft rufen rief riefen", "angerufen", "haben"),
        ("vorbereiten", "bereitet bereiten bereitete bereiteten", "vorbereitet", "haben"),
        ("laufen", "läuft laufen lief liefen", "gelaufen", "sein"),
    ],
)
def test_german_forms(infinitive: str, expected: str, participle: str, auxiliary: str) -> None:
    verb = GERMAN[infinitive]
    assert third_person(verb) == expected.split()
    assert verb.participle == participle
    assert verb.auxiliary == auxiliary


def test_auxiliaries() -> None:
    assert third_person(GERMAN_AUXILIARIES["sein"]) == ["ist", "sind", "war", "waren"]
    assert third_person(GERMAN_AUXILIARIES["werden"]) == ["wird", "werden", "wurde", "wurden"]


def test_a_particle_joins_its_verb_at_the_end_of_the_clause() -> None:
    assert verb_final(GERMAN["anrufen"], Tense.PRESENT, Number.SINGULAR) == "anruft"
    assert verb_final(GERMAN["sehen"], Tense.PAST, Number.PLURAL) == "sahen"


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("cross", "crosses cross crossed crossed crossed"),
        ("stop", "stops stop stopped stopped stopped"),
        ("steal", "steals steal stole stole stolen"),
        ("go", "goes go went went gone"),
        ("lie", "lies lie lay lay lain"),
    ],
)
def test_english_forms(base: str, expected: str) -> None:
    verb = ENGLISH[base]
    forms = [
        english_finite(verb, tense, number)
        for tense in (Tense.PRESENT, Tense.PAST)
        for number in Number
    ]
    assert [*forms, verb.participle] == expected.split()


def test_compound_tenses_have_no_form_of_one_word() -> None:
    with pytest.raises(ValueError, match="compound tense"):
        finite(GERMAN["sehen"], Tense.PERFECT, Number.SINGULAR)
    with pytest.raises(ValueError, match="compound tense"):
        english_finite(ENGLISH["go"], Tense.FUTURE, Number.SINGULAR)


def test_modals() -> None:
    must = next(modal for modal in MODALS if modal.infinitive == "müssen")
    assert third_person(must.german) == ["muss", "müssen", "musste", "mussten"]
    assert third_person(must.english) == ["must", "must", "had to", "had to"]
    should = next(modal for modal in MODALS if modal.infinitive == "sollen")
    assert finite(should.german, Tense.PRESENT, Number.PLURAL) == "sollten"
    with pytest.raises(ValueError, match="no past of sollte"):
        finite(should.german, Tense.PAST, Number.SINGULAR)
