"""Whole sentences with their German checked by hand, from the building blocks of each family."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from core.corpus.grammar.adverbials import adverb_words
from core.corpus.grammar.clauses import Clause
from core.corpus.grammar.dependencies import DependencyKind
from core.corpus.grammar.draft import TEST, TRAIN, Draft
from core.corpus.grammar.entries import Case, Degree, Frame, Number, SemanticClass, Tense
from core.corpus.grammar.families.coordination import joined
from core.corpus.grammar.families.coreference import readings
from core.corpus.grammar.families.degree import comparison, made
from core.corpus.grammar.families.frames import CONTRASTS, REASONS, REFUSALS
from core.corpus.grammar.families.frames import Frame as Shape
from core.corpus.grammar.families.reference import Owner
from core.corpus.grammar.families.stories import Story
from core.corpus.grammar.lexicon import CAUSATIVES, NUMERALS
from core.corpus.grammar.phrases import (
    Phrase,
    noun_phrase,
    of_phrase,
    prepositional,
    pronoun_phrase,
)
from core.corpus.grammar.predication import copula
from core.corpus.grammar.scenes import relate
from core.corpus.grammar.sentence import Composition, German, Tree, finish
from core.corpus.grammar.specifiers import BARE, MANY, THE, THIS, A, Specifier, possessive
from core.corpus.grammar.verbs import CAN, MUST, WANT, verb_group
from core.corpus.grammar.vocabulary import adjective, adverb, noun, preposition, verb

PAST, PRESENT, PERFECT, FUTURE = Tense.PAST, Tense.PRESENT, Tense.PERFECT, Tense.FUTURE
NOMINATIVE, ACCUSATIVE, DATIVE = Case.NOMINATIVE, Case.ACCUSATIVE, Case.DATIVE
PLURAL = Number.PLURAL
CASES = {Frame.TRANSITIVE: ACCUSATIVE, Frame.DATIVE: DATIVE}


class Builder:
    """Puts a sentence together word by word; nothing is left to chance."""

    def __init__(self) -> None:
        self.draft = Draft(Random(1), TRAIN)

    def np(
        self,
        words: str,
        case: Case = NOMINATIVE,
        *,
        specifier: Specifier = THE,
        **options: Any,
    ) -> Phrase:
        """ "old dog": adjectives and a noun."""
        *adjectives, head = words.split()
        return noun_phrase(
            self.draft,
            noun(head),
            case,
            specifier=specifier,
            adjectives=[adjective(word) for word in adjectives],
            **options,
        )

    def clause(
        self, subject: Phrase, words: str, frame: Frame, *, tense: Tense = PAST, **options: Any
    ) -> Clause:
        entry = verb(words, frame)
        group = verb_group(
            self.draft,
            entry.english,
            entry.german,
            tense=tense,
            number=subject.number,
            **options,
        )
        return Clause(self.draft, subject, group)

    def transitive(
        self, subject: str, words: str, target: str, *, specifier: Specifier = THE, **options: Any
    ) -> Clause:
        """ "dog", "bite", "man"."""
        result = self.clause(self.np(subject), words, Frame.TRANSITIVE, **options)
        phrase = self.np(target, ACCUSATIVE, specifier=specifier, negator=result.verb.negator)
        preposition = verb(words, Frame.TRANSITIVE).english.preposition
        result.add_object(phrase, DependencyKind.OBJECT, preposition=preposition)
        return result

    def pp(self, english: str, words: str, case: Case) -> tuple[Tree, list[German]]:
        entry = preposition(english)
        return prepositional(entry.english, entry.german, self.np(words, entry.case or case))


Build = Callable[[Builder], Clause]
SENTENCES: list[tuple[Build, str, str]] = []


def translates(source: str, target: str) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        SENTENCES.append((build, source, target))
        return build

    return register


@translates("The old woman visited the young doctor.", "Die alte Frau besuchte den jungen Arzt.")
def svo_past(b: Builder) -> Clause:
    return b.transitive("old woman", "visit", "young doctor")


@translates("The dog bites the man.", "Der Hund beißt den Mann.")
def svo_present_accusative_masculine(b: Builder) -> Clause:
    return b.transitive("dog", "bite", "man", tense=PRESENT)


@translates("The teacher praised the student.", "Der Lehrer lobte den Studenten.")
def weak_noun(b: Builder) -> Clause:
    return b.transitive("teacher", "praise", "student")


@translates("The animal didn't cross the street.", "Das Tier überquerte die Straße nicht.")
def negated_after_object(b: Builder) -> Clause:
    return b.transitive("animal", "cross", "street", negated=True)


@translates("The man didn't buy a car.", "Der Mann kaufte kein Auto.")
def negated_indefinite(b: Builder) -> Clause:
    return b.transitive("man", "buy", "car", specifier=A, negated=True)


@translates("The queen has seen the red ship.", "Die Königin hat das rote Schiff gesehen.")
def perfect_with_haben(b: Builder) -> Clause:
    return b.transitive("queen", "see", "red ship", tense=PERFECT)


@translates("The train hasn't arrived.", "Der Zug ist nicht angekommen.")
def perfect_with_sein_negated(b: Builder) -> Clause:
    return b.clause(b.np("train"), "arrive", Frame.INTRANSITIVE, tense=PERFECT, negated=True)


@translates("The boy calls the aunt.", "Der Junge ruft die Tante an.")
def separable_present(b: Builder) -> Clause:
    return b.transitive("boy", "call", "aunt", tense=PRESENT)


@translates("The boy didn't call the aunt.", "Der Junge rief die Tante nicht an.")
def separable_negated(b: Builder) -> Clause:
    return b.transitive("boy", "call", "aunt", negated=True)


@translates("The boy has called the aunt.", "Der Junge hat die Tante angerufen.")
def separable_perfect(b: Builder) -> Clause:
    return b.transitive("boy", "call", "aunt", tense=PERFECT)


@translates("The niece wanted to turn on the lamp.", "Die Nichte wollte die Lampe einschalten.")
def separable_modal(b: Builder) -> Clause:
    return b.transitive("niece", "turn on", "lamp", modal=WANT)


@translates(
    "The committee will reject the proposal.",
    "Der Ausschuss wird den Vorschlag ablehnen.",
)
def future(b: Builder) -> Clause:
    return b.transitive("committee", "reject", "proposal", tense=FUTURE)


@translates("The horse couldn't pull the carriage.", "Das Pferd konnte die Kutsche nicht ziehen.")
def modal_negated(b: Builder) -> Clause:
    return b.transitive("horse", "pull", "carriage", tense=PAST, modal=CAN, negated=True)


@translates(
    "The waiter doesn't have to clean the kitchen.",
    "Der Kellner muss die Küche nicht reinigen.",
)
def modal_have_to(b: Builder) -> Clause:
    return b.transitive("waiter", "clean", "kitchen", tense=PRESENT, modal=MUST, negated=True)


@translates("The wife looked for the key.", "Die Ehefrau suchte den Schlüssel.")
def two_words_in_english(b: Builder) -> Clause:
    return b.transitive("wife", "look for", "key")


@translates("The engineer helped the neighbor.", "Der Ingenieur half dem Nachbarn.")
def dative_verb(b: Builder) -> Clause:
    result = b.clause(b.np("engineer"), "help", Frame.DATIVE)
    result.add_object(b.np("neighbor", DATIVE), DependencyKind.INDIRECT_OBJECT)
    return result


@translates(
    "The mother has given the son a new coat.",
    "Die Mutter hat dem Sohn einen neuen Mantel gegeben.",
)
def double_object(b: Builder) -> Clause:
    result = b.clause(b.np("mother"), "give", Frame.DITRANSITIVE, tense=PERFECT)
    result.add_object(b.np("son", DATIVE), DependencyKind.INDIRECT_OBJECT)
    result.add_object(b.np("new coat", ACCUSATIVE, specifier=A), DependencyKind.OBJECT)
    return result


@translates("The cat jumped under the table.", "Die Katze sprang unter den Tisch.")
def direction(b: Builder) -> Clause:
    result = b.clause(b.np("cat"), "jump", Frame.DIRECTIONAL)
    result.add_complement(*b.pp("under", "table", ACCUSATIVE), [])
    return result


@translates("The cat didn't lie under the table.", "Die Katze lag nicht unter dem Tisch.")
def place(b: Builder) -> Clause:
    result = b.clause(b.np("cat"), "lie", Frame.LOCATIVE, negated=True)
    result.add_complement(*b.pp("under", "table", DATIVE), [])
    return result


@translates("The king lives in the old palace.", "Der König wohnt im alten Palast.")
def contracted_place(b: Builder) -> Clause:
    result = b.clause(b.np("king"), "live", Frame.LOCATIVE, tense=PRESENT)
    result.add_complement(*b.pp("in", "old palace", DATIVE), [])
    return result


@translates("The bus drove to the school.", "Der Bus fuhr zur Schule.")
def contracted_direction(b: Builder) -> Clause:
    result = b.clause(b.np("bus"), "drive", Frame.DIRECTIONAL)
    result.add_complement(*b.pp("to", "school", DATIVE), [])
    return result


@translates("The tourist didn't wait for the bus.", "Der Tourist wartete nicht auf den Bus.")
def prepositional_object(b: Builder) -> Clause:
    result = b.clause(b.np("tourist"), "wait for", Frame.PREPOSITIONAL, negated=True)
    entry = verb("wait for", Frame.PREPOSITIONAL)
    phrase = b.np("bus", ACCUSATIVE)
    tree, german = prepositional("for", entry.german.preposition, phrase)
    result.add_complement(tree, german, [])
    return result


@translates("The bridge was built by the expert.", "Die Brücke wurde vom Experten gebaut.")
def passive_with_agent(b: Builder) -> Clause:
    result = b.clause(b.np("bridge"), "build", Frame.TRANSITIVE, passive=True)
    result.add_adjunct(*b.pp("by", "expert", DATIVE))
    return result


@translates("The house has been sold.", "Das Haus ist verkauft worden.")
def passive_perfect(b: Builder) -> Clause:
    return b.clause(
        b.np("house"),
        "sell",
        Frame.TRANSITIVE,
        tense=PERFECT,
        passive=True,
    )


@translates("The letter couldn't be opened.", "Der Brief konnte nicht geöffnet werden.")
def passive_modal(b: Builder) -> Clause:
    return b.clause(b.np("letter"), "open", Frame.TRANSITIVE, passive=True, modal=CAN, negated=True)


@translates("The river has been very deep.", "Der Fluss ist sehr tief gewesen.")
def predicate(b: Builder) -> Clause:
    return copula(
        b.draft,
        b.np("river"),
        adjective("deep"),
        tense=PERFECT,
        degree_adverb=adverb("very"),
    )


@translates("Two old farmers sold many big cows.", "Zwei alte Bauern verkauften viele große Kühe.")
def numbers_and_bare_plurals(b: Builder) -> Clause:
    subject = b.np("old farmer", number=PLURAL, numeral=NUMERALS[0], specifier=BARE)
    result = b.clause(subject, "sell", Frame.TRANSITIVE)
    target = b.np("big cow", ACCUSATIVE, number=PLURAL, specifier=MANY)
    result.add_object(target, DependencyKind.OBJECT)
    return result


@translates("The tower is higher than the tree.", "Der Turm ist höher als der Baum.")
def comparative(b: Builder) -> Clause:
    return comparison(b.draft, b.np("tower"), adjective("high"), b.np("tree"), PRESENT)


@translates("The cat wasn't as old as the dog.", "Die Katze war nicht so alt wie der Hund.")
def as_as(b: Builder) -> Clause:
    return comparison(
        b.draft, b.np("cat"), adjective("old"), b.np("dog"), PAST, equal=True, negated=True
    )


@translates("The biggest horse slept.", "Das größte Pferd schlief.")
def superlative(b: Builder) -> Clause:
    subject = b.np("big horse", degree=Degree.SUPERLATIVE)
    return b.clause(subject, "sleep", Frame.INTRANSITIVE)


@translates(
    "The new law makes the procedure of the doctors more difficult.",
    "Das neue Gesetz erschwert das Verfahren der Ärzte.",
)
def causative(b: Builder) -> Clause:
    (entry,) = (entry for entry in CAUSATIVES if entry.comparative == "more difficult")
    work = of_phrase(b.np("procedure", ACCUSATIVE), b.np("doctor", Case.GENITIVE, number=PLURAL))
    return made(b.draft, b.np("new law"), entry, work, PRESENT)


@translates("The rain made the storm weaker.", "Der Regen schwächte den Sturm ab.")
def causative_separable(b: Builder) -> Clause:
    (entry,) = (entry for entry in CAUSATIVES if entry.comparative == "weaker")
    return made(b.draft, b.np("rain"), entry, b.np("storm", ACCUSATIVE), PAST)


@translates("The woman sold her car.", "Die Frau verkaufte ihr Auto.")
def possessive_feminine(b: Builder) -> Clause:
    owner = Owner(b.np("woman"), "she", noun("woman").gender)
    specifier = possessive(owner.pronoun, owner.gender)
    return b.transitive("woman", "sell", "car", specifier=specifier)


@translates("The authority published its report.", "Die Behörde veröffentlichte ihren Bericht.")
def possessive_of_a_thing(b: Builder) -> Clause:
    specifier = possessive("it", noun("authority").gender)
    return b.transitive("authority", "publish", "report", specifier=specifier)


@translates("The hunter woke it up.", "Der Jäger weckte ihn auf.")
def pronoun_object(b: Builder) -> Clause:
    result = b.clause(b.np("hunter"), "wake up", Frame.TRANSITIVE)
    it = pronoun_phrase("it", ACCUSATIVE, noun("fox").gender)
    result.add_object(it, DependencyKind.OBJECT)
    return result


@translates("The dog that the boy saw slept.", "Der Hund, den der Junge sah, schlief.")
def relative_accusative(b: Builder) -> Clause:
    subject = b.np("dog")
    relate(b.draft, subject, "object", verb("see", Frame.TRANSITIVE), b.np("boy"))
    return b.clause(subject, "sleep", Frame.INTRANSITIVE)


@translates(
    "The uncle has invited the guest whom the lady thanked.",
    "Der Onkel hat den Gast eingeladen, dem die Dame dankte.",
)
def relative_dative_extraposed(b: Builder) -> Clause:
    result = b.clause(b.np("uncle"), "invite", Frame.TRANSITIVE, tense=PERFECT)
    guest = b.np("guest", ACCUSATIVE)
    relate(b.draft, guest, "dative", verb("thank", Frame.DATIVE), b.np("lady"))
    result.add_object(guest, DependencyKind.OBJECT)
    return result


@translates(
    "The train for which the men waited stopped.",
    "Der Zug, auf den die Männer warteten, hielt an.",
)
def relative_prepositional(b: Builder) -> Clause:
    subject = b.np("train")
    entry = verb("wait for", Frame.PREPOSITIONAL)
    relate(b.draft, subject, "prepositional", entry, b.np("man", number=PLURAL))
    return b.clause(subject, "stop", Frame.INTRANSITIVE)


@translates("The letters of the king are old.", "Die Briefe des Königs sind alt.")
def agreement(b: Builder) -> Clause:
    subject = b.np("letter", number=PLURAL)
    of_phrase(subject, b.np("king", Case.GENITIVE))
    return copula(b.draft, subject, adjective("old"), tense=PRESENT)


@translates("The woman and the man sing.", "Die Frau und der Mann singen.")
def coordinated_subjects(b: Builder) -> Clause:
    subject = joined(b.draft, b.np("woman"), b.np("man"), "and")
    return b.clause(subject, "sing", Frame.INTRANSITIVE, tense=PRESENT)


@translates("The man bought the car yesterday.", "Der Mann kaufte gestern das Auto.")
def adverb_before_object(b: Builder) -> Clause:
    result = b.transitive("man", "buy", "car")
    result.add_adverb(*adverb_words(adverb("yesterday")))
    return result


@translates("The man didn't buy the car yesterday.", "Der Mann kaufte das Auto gestern nicht.")
def adverb_before_nicht(b: Builder) -> Clause:
    result = b.transitive("man", "buy", "car", negated=True)
    result.add_adverb(*adverb_words(adverb("yesterday")))
    return result


@translates("The nurse washes this white shirt.", "Die Krankenschwester wäscht dieses weiße Hemd.")
def demonstrative(b: Builder) -> Clause:
    return b.transitive("nurse", "wash", "white shirt", specifier=THIS, tense=PRESENT)


@pytest.mark.parametrize(
    ("build", "source", "target"), SENTENCES, ids=[build.__name__ for build, _, _ in SENTENCES]
)
def test_main_clause(build: Build, source: str, target: str) -> None:
    builder = Builder()
    clause = build(builder)
    assert texts(builder, clause.english(), clause.second()) == (source, target)


def texts(builder: Builder, tree: Tree, german: list[German], mark: str = ".") -> tuple[str, str]:
    composition = Composition(tree, german, builder.draft.links, mark)
    sentence = finish(composition, family="simple", split=TRAIN)
    return sentence.source, sentence.target


def test_an_adverb_in_front_pushes_the_subject_behind_the_verb() -> None:
    b = Builder()
    clause = b.transitive("man", "buy", "car")
    tree, german = adverb_words(adverb("yesterday"))
    assert texts(b, Tree("S", tree, *clause.english().children), clause.second(german)) == (
        "Yesterday the man bought the car.",
        "Gestern kaufte der Mann das Auto.",
    )


def test_a_question_begins_with_the_finite_verb() -> None:
    b = Builder()
    clause = b.transitive("boy", "call", "aunt", inverted=True)
    assert texts(b, clause.english_question(), clause.first(), "?") == (
        "Did the boy call the aunt?",
        "Rief der Junge die Tante an?",
    )


@pytest.mark.parametrize(
    ("options", "german"),
    [
        ({"tense": PAST}, "dass der Junge die Tante anrief"),
        ({"tense": PERFECT}, "dass der Junge die Tante angerufen hat"),
        ({"tense": FUTURE}, "dass der Junge die Tante anrufen wird"),
        ({"tense": PAST, "modal": CAN}, "dass der Junge die Tante anrufen konnte"),
        ({"tense": PRESENT, "negated": True}, "dass der Junge die Tante nicht anruft"),
    ],
)
def test_a_subordinate_clause_ends_with_the_finite_verb(
    options: dict[str, Any], german: str
) -> None:
    clause = Builder().transitive("boy", "call", "aunt", final=True, **options)
    assert " ".join(["dass", *(word.text for word in clause.final())]) == german


class Plain(Random):
    """Never adds anything, and always picks the last choice."""

    def random(self) -> float:
        return 0.999999


CROSSING = Story(
    agents=SemanticClass.ANIMAL,
    verbs=("cross",),
    goals=SemanticClass.WAY,
    agent_adjectives=("tired",),
    goal_adjectives=("wide",),
)


def told(shape: Shape, agent: str = "animal", goal: str = "street") -> list[tuple[str, str]]:
    compositions = readings(Draft(Plain(), TEST), CROSSING, shape, noun(agent), noun(goal))
    sentences = [finish(each, family="coreference", split=TEST) for each in compositions]
    return [(sentence.source, sentence.target) for sentence in sentences]


def test_the_classic_pair() -> None:
    assert told(REFUSALS[0]) == [
        (
            "The animal didn't cross the street because it was too tired.",
            "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        ),
        (
            "The animal didn't cross the street because it was too wide.",
            "Das Tier überquerte die Straße nicht, weil sie zu breit war.",
        ),
    ]


@pytest.mark.parametrize(
    ("shape", "source", "target"),
    [
        (
            Shape(PERFECT, PRESENT, negated=True),
            "The fox hasn't crossed the bridge because it is too tired.",
            "Der Fuchs hat die Brücke nicht überquert, weil er zu müde ist.",
        ),
        (
            Shape(PAST, PAST, negated=True, passive=True),
            "The bridge wasn't crossed by the fox because it was too tired.",
            "Die Brücke wurde vom Fuchs nicht überquert, weil er zu müde war.",
        ),
        (
            Shape(PAST, PAST, negated=True, fronted=True),
            "Because it was too tired, the fox didn't cross the bridge.",
            "Weil er zu müde war, überquerte der Fuchs die Brücke nicht.",
        ),
        (
            Shape(PAST, PAST, negated=True, inverted=True),
            "Didn't the fox cross the bridge because it was too tired?",
            "Überquerte der Fuchs die Brücke nicht, weil er zu müde war?",
        ),
        (
            Shape(PAST, PAST, ("but", "aber"), modal=WANT, coordinate=True),
            "The fox wanted to cross the bridge, but it was too tired.",
            "Der Fuchs wollte die Brücke überqueren, aber er war zu müde.",
        ),
        (
            Shape(PAST, PAST, ("although", "obwohl"), ("very",), conceded=True),
            "Although the fox crossed the bridge, it was very tired.",
            "Obwohl der Fuchs die Brücke überquerte, war er sehr müde.",
        ),
    ],
)
def test_shapes_of_coreference(shape: Shape, source: str, target: str) -> None:
    assert told(shape, "fox", "bridge")[0] == (source, target)


def test_there_are_many_shapes() -> None:
    assert len({*REFUSALS, *CONTRASTS, *REASONS}) >= 20
