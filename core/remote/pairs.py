"""The translation models of OPUS-MT (Tiedemann and Thottingal 2020) that are offered by pair.

The lists are not complete; the hub has about 1,500 of them, and any can be named. English to Korean
is left out: the vocabulary of the hub's model lacks most pieces of its English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OWNER = "Helsinki-NLP"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_PAIR = re.compile(r"[A-Za-z]+(_[A-Za-z]+)*-[A-Za-z]+(_[A-Za-z]+)*", re.ASCII)

LANGUAGES = {
    "af": "Afrikaans",
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "cy": "Welsh",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fi": "Finnish",
    "fr": "French",
    "ga": "Irish",
    "gem": "Germanic languages",
    "gl": "Galician",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "hy": "Armenian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mk": "Macedonian",
    "ml": "Malayalam",
    "mr": "Marathi",
    "mt": "Maltese",
    "mul": "many languages",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "roa": "Romance languages",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sla": "Slavic languages",
    "sq": "Albanian",
    "sv": "Swedish",
    "sw": "Swahili",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
}

_TARGETS = {
    "en": "af ar bg ca cs cy da de el eo es et eu fi fr ga gem gl he hi hu hy id is it lt lv mk "
    "ml mr mt mul nl pt ro roa ru sk sla sq sv sw tr uk ur vi zh",
    "da": "de en eo es fi fr no ru",
    "de": "ar bg ca cs da el en eo es et eu fi fr he hr hu is it lt nl no pl uk vi",
    "es": "ar bg ca cs da de el en eo et eu fi fr gl he hr id is it lt mk nl no pl ro ru sl uk vi",
    "fi": "bg cs de el en eo es et fr",
    "fr": "ar bg ca de el en eo es he hu id no pl ro ru sk sl sv uk vi",
    "it": "ar bg ca de en eo es fr is lt sv uk vi",
    "ja": "ar bg da de en es fi fr he hu it nl pl pt ru sv tr vi",
    "ko": "de en es fi fr hu ru sv",
    "nl": "af ca en eo es fi fr no sv uk",
    "no": "da de es fi fr nl pl ru sv uk",
    "pl": "ar de en eo es fr lt no sv uk",
    "pt": "ca eo gl uk",
    "ru": "af ar bg da en eo es et eu fi fr he hy lt lv no sl sv uk vi",
    "sv": "bg cs el en eo es et fi fr he hu id is lv nl no ro ru sk sl sq th uk",
    "tr": "ar en eo es fr lt sv uk",
    "uk": "bg ca cs de en es fi fr he hu it nl no pl pt ru sl sv tr",
}
_INTO_ENGLISH = (
    "af ar bg ca cs cy el eo et eu ga gem gl hi hu hy id is ka lv mk ml mr mt mul roa sk sla sq th "
    "ur vi zh"
)
_BIG = {"el-en", "en-lt", "en-lv", "en-pt", "en-tr"}  # there is only the big model


@dataclass(frozen=True, slots=True)
class Pair:
    """A language pair with a model on the hub.

    Attributes:
        name: as in "en-de".
        source, target: names of languages, in English.
    """

    name: str
    source: str
    target: str

    @property
    def repository(self) -> str:
        size = "-tc-big" if self.name in _BIG else ""
        return f"{OWNER}/opus-mt{size}-{self.name}"


def _all_pairs() -> dict[str, Pair]:
    codes = [(source, target) for source, all_ in _TARGETS.items() for target in all_.split()]
    codes += [(source, "en") for source in _INTO_ENGLISH.split()]
    pairs = [Pair(f"{a}-{b}", LANGUAGES[a], LANGUAGES[b]) for a, b in codes]
    pairs.sort(key=lambda pair: (pair.source != "English", pair.source, pair.target))
    return {pair.name: pair for pair in pairs}


PAIRS = _all_pairs()


def repository_of(name: str) -> str | None:
    """Return the repository of a pair, "en-de", or of a repository's own name, "OWNER/NAME"; None
    otherwise.

    A pair that is not in the list has the name that most of these models have.
    """
    if name in PAIRS:
        return PAIRS[name].repository
    if _PAIR.fullmatch(name):
        return f"{OWNER}/opus-mt-{name}"
    return name if _REPOSITORY.fullmatch(name) and ".." not in name else None
