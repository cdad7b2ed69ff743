"""What a full stop after a word means in each language: abbreviations and frequent first words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class StopRules:
    """What ``core.text.sentences`` knows of a language. Words are without their last full stop.

    Attributes:
        inner: abbreviations in lower case that never end a sentence, such as "mr" and "e.g".
        numbered: in lower case; they are abbreviations where a number follows, as in "No. 5".
        final: in lower case; they may also end a sentence: they do where one of ``openers`` comes
            next, as in "Smith Inc. She", not in "Smith Inc. sells". Initials, and words with full
            stops inside such as "U.S.", need not be listed: they are all taken like that.
        openers: words that often begin a sentence, as written there.
        capitals: words whose capital letter says nothing, as English "I".
        ordinals: a number with a full stop is an ordinal, and a capital letter may follow it, as
            in "am 3. Oktober".
    """

    inner: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    final: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    capitals: frozenset[str] = frozenset()
    ordinals: bool = False


@cache
def stop_rules(language: str) -> StopRules:
    """Return the rules for a language code such as "de", "de-AT", "deu" or "deu_Latn".

    Every other language, and "" for an unknown one, gets the rules of English.
    """
    code = language.replace("-", "_").partition("_")[0].lower()
    return _RULES.get(_TWO_LETTERS.get(code, code), _RULES["en"])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TWO_LETTERS = {
    **{"eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it"},
    **{"por": "pt", "nld": "nl", "dut": "nl", "rus": "ru"},
}

_TITLES = "dr prof mr mrs ms st hon rev gen col capt lt sgt maj cmdr"

_RULES = {
    "en": StopRules(
        inner=_words(
            _TITLES + " messrs mmes sen rep gov pres supt adm fr sr mt ft vs e.g i.e eg ie cf viz "
            "approx ca esp incl resp"
        ),
        numbered=_words(
            "no nos nr p pp vol vols fig figs eq eqs sec secs ch art par ver ed tab jan feb mar "
            "apr jun jul aug sep sept oct nov dec"
        ),
        final=_words("jr sr inc ltd co corp bros dept univ assn st ave blvd rd al est"),
        openers=_words(
            "A After All Also Although An And As At Because Before But By Can Could Did Do Does "
            "For From Had Has Have He Her Here His How However I If In Is It Its Let Many Maybe "
            "My No Not Now On One Or Our Please She Should So Some Still That The Their Then "
            "There These They This Those To Was We Were What When Where Which While Who Why "
            "Will With Would Yes Yesterday Yet You Your"
        ),
        capitals=_words("I"),
    ),
    "de": StopRules(
        inner=_words(
            "dr prof hr fr frl dipl ing mag st hl gebr bzw ca vgl evtl ggf inkl exkl zzgl sog bspw "
            "etw geb gest verh kath evang ehem urspr lat engl franz mind max min jmd allg z.b zb "
            "d.h dh i.d.r v.a z.t m.e s.o s.u o.g u.u i.a i.d z.zt d.i sen jun"
        ),
        numbered=_words(
            "nr nrn s abs art abb abt anm aufl bd bde fig hrsg kap str tab tel ziff § jan feb mär "
            "apr jun jul aug sep sept okt nov dez"
        ),
        final=_words("usw etc u.a u.ä o.ä u.v.m u.s.w v.chr n.chr mio mrd jh jhd std co str a.d"),
        openers=_words(
            "Aber Ab Alle Als Also Am An Auch Auf Aus Bei Bis Bitte Da Dabei Dadurch Daher "
            "Damals Damit Danach Dann Darum Das Dass Dein Deine Dem Den Denn Der Des Deshalb "
            "Die Dies Diese Dieser Dieses Doch Dort Du Durch Ein Eine Einem Einen Einer Er Erst "
            "Es Für Gestern Hat Hatte Heute Hier Ich Ihm Ihn Ihr Ihre Im In Ist Ja Jede Jeder "
            "Jedes Jetzt Kann Kein Keine Man Mein Meine Mit Morgen Nach Nein Nicht Noch Nun Nur "
            "Ob Oder Ohne Schon Sein Seine Seit Seitdem Sie Sind So Sogar Trotzdem Über Um Und "
            "Uns Unser Unter Viele Vom Von Vor War Waren Warum Was Weil Wenn Wer Wie Wieso Wir "
            "Wird Wo Zu Zum Zur Zwar"
        ),
        ordinals=True,
    ),
    "fr": StopRules(
        inner=_words("m mm mme mmes mlle mlles me mgr dr pr prof st ste cf env p.ex c.-à-d c.à.d"),
        numbered=_words("no n° nos p pp vol art chap fig éd janv févr avr juil sept oct nov déc"),
        final=_words("etc av apr j.-c"),
        openers=_words(
            "À Au Aux Avec Ce Ces Cet Cette Comme Dans De Des Du Elle Elles En Et Il Ils Je La "
            "Le Les Leur Leurs Mais Mon Nous On Où Par Pour Puis Quand Que Qui Sa Ses Si Son "
            "Sur Tu Un Une Vous"
        ),
    ),
    "es": StopRules(
        inner=_words("sr sra sres sras srta dr dra prof d dña lic ing gral cap ej p.ej ee ud uds"),
        numbered=_words("n.º núm pág págs vol art cap fig"),
        final=_words("etc ud uds ee.uu uu a.c d.c"),
        openers=_words(
            "Al Como Con Cuando De Del El Ella Ellos En Es Ese Esta Este Esto La Las Lo Los Me "
            "Mi No Nos Para Pero Por Que Se Si Sin Sobre Su Sus También Tu Un Una Y Ya Yo"
        ),
    ),
    "it": StopRules(
        inner=_words("sig sigg sig.ra sig.na dott dott.ssa prof prof.ssa ing avv on san cfr es"),
        numbered=_words("n nn p pp pag pagg vol art cap fig"),
        final=_words("ecc a.c d.c"),
        openers=_words(
            "A Al Anche Che Chi Con Come Da Dal Di E È Era Gli I Il In Io La Le Lei Lo Loro Lui "
            "Ma Mi Nel Nella Noi Non Per Perché Poi Quando Questa Questo Se Si Sono Un Una Uno"
        ),
    ),
    "pt": StopRules(
        inner=_words("sr sra srs sras dr dra prof profa eng d p.ex ex"),
        numbered=_words("n.º núm pág págs vol art cap fig"),
        final=_words("etc a.c d.c"),
        openers=_words(
            "A As Ao Com Como De Do Da E Ela Elas Ele Eles Em Era Essa Esse Esta Este Eu Foi "
            "Isso Já Mas Meu Minha Na Não No Nós O Os Para Por Quando Que Se Seu Sua Também Um "
            "Uma Você"
        ),
    ),
    "nl": StopRules(
        inner=_words("dhr mevr mw dr drs ir ing prof mr st bijv bv d.w.z m.a.w o.a t.a.v i.p.v ca"),
        numbered=_words("nr nrs blz p art afb hfdst jan feb mrt apr jun jul aug sep sept okt nov"),
        final=_words("enz etc e.d v.chr n.chr"),
        openers=_words(
            "Als Bij Daar Daarna Dan Dat De Deze Die Dit Door Een En Er Haar Heeft Hem Het Hier "
            "Hij Hoe Ik In Is Je Kan Maar Met Mijn Na Naar Niet Nu Om Ook Op Te Toen Uit Van "
            "Voor Waar Waarom Was Wat We Wie Wij Ze Zij Zijn Zo"
        ),
    ),
    "ru": StopRules(
        inner=_words("г-н г-жа гг ул пр просп пл им проф акад доц напр т.е т.к т.н см ср ок тыс"),
        numbered=_words("№ стр с гл рис табл т п ст"),
        final=_words("г др пр т.д т.п н.э млн млрд руб в"),
        openers=_words(
            "А Без Был Была Были В Вот Все Вы Где Да Для До Если Есть Ещё За И Из Или Их К Как "
            "Когда Кто Мы На Не Нет Но О Об Он Она Они Оно От По Под После При С Так Там То "
            "Тогда Ты У Что Чтобы Это Этот Я"
        ),
    ),
}
