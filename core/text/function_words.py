"""Words that serve grammar more than meaning; many have no counterpart in a good translation."""

from __future__ import annotations

_ENGLISH = """
    a an the this that these those such
    i you he she it we they me him her us them one
    my your his its our their mine yours hers ours theirs
    myself yourself himself herself itself ourselves yourselves themselves
    who whom whose which what
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must ought
    get gets got getting let going
    i'm you're he's she's it's we're they're that's there's here's who's what's let's
    i've you've we've they've i'd you'd he'd she'd it'd we'd they'd
    i'll you'll he'll she'll it'll we'll they'll that'll
    about as at by for from in into of off on onto out over down to up with
    and or but if then than so because that while
    there here just very too
"""

ENGLISH = frozenset(_ENGLISH.split())
"""In lower case. Negations are not among them: a translation that lacks one is wrong."""


def function_words(language: str) -> frozenset[str] | None:
    """Return the function words of a language, named by its code; None if there is no list."""
    return ENGLISH if language in ("en", "eng") else None
