"""What has to be said about a map besides its colours: what was merged, hidden, left blank."""

from collections.abc import Sequence

from transformer_viz.drawing.numbers import percent
from transformer_viz.engine.quantities import Found
from transformer_viz.state.options import Quantity, Scale, ViewOptions
from transformer_viz.widgets.head_pictures import HeadPicture
from transformer_viz.words.quantity_wording import EXPLANATIONS, axes_sentence
from transformer_viz.words.wording import token_name

LABELS = """\
Number beside a label: position in the text.
▁ before a label: a word starts here; without it, the piece continues the previous word.
Grey chip: special token. ␣: a space on its own. ⟨E2⟩: one byte of a character.
Dotted amber line: not in the vocabulary.
Amber bar over a column: a sink, which receives weight whatever the query is."""
"""How to read what stands on the axes."""

FAINT = 0.25  # weights below are hardly told from the paper
EXPLANATORY = 2  # of the notes: what the quantity is, what rows and columns are


def map_notes(
    found: Found, pictures: Sequence[HeadPicture], options: ViewOptions, heads: int, shown: int
) -> list[str]:
    """Return sentences about the maps; `shown` of so many `heads` have a map each, or 1 has all."""
    kind = pictures[0].heads[0].kind
    noun = found.measure(kind).noun
    notes = [EXPLANATIONS[found.quantity], axes_sentence(found.quantity, kind)]
    sources = [found.source_shares(picture.heads[0]) for picture in pictures]
    means = [percent(float(source.mean())) for source in sources if source is not None]
    if means:
        constant = found.quantity is Quantity.ROLLOUT
        of = "every row, whatever the text" if constant else "a row on average"
        rest = "the rest comes from the target prefix"
        notes.append(f"From the source: {', '.join(means)} of {of}; {rest}.")
    if options.merge_words:
        notes.append("Pieces merged into words: columns summed, rows averaged.")
    if options.hide_specials:
        hidden = _shares([picture.hidden_share for picture in pictures])
        notes.append(f"Special tokens hidden, with {hidden} of the {noun}.")
    if options.threshold > 0:
        blank = _shares([picture.blank_share for picture in pictures])
        notes.append(f"Values below {options.threshold:g} left blank: {blank} of the {noun}.")
    if is_faint(found, pictures, options):
        notes.append(
            f"No weight is above {max(picture.peak for picture in pictures):.2f}, so this map is "
            "nearly blank on the absolute scale."
        )
    if len(pictures) == 1 and pictures[0].sinks:
        notes.append(sinks_sentence(pictures[0]))
    if 1 < shown < heads:
        notes.append(f"The first {shown} of {heads} heads are shown.")
    return notes


def sinks_sentence(picture: HeadPicture) -> str:
    """As in "Sink (amber bar): </s>, 48% of all weight."."""
    columns = picture.axes.columns.tokens
    named = [f"{token_name(columns[one.key])}, {percent(one.share)}" for one in picture.sinks]
    plural = "s" * (len(named) > 1)
    bars = f"Sink{plural} (amber bar{plural})"
    return f"{bars}: {'; '.join(named)} of all weight."


def is_faint(found: Found, pictures: Sequence[HeadPicture], options: ViewOptions) -> bool:
    """Whether the absolute scale of weights shows next to nothing of these maps."""
    absolute = found.quantity is Quantity.WEIGHT and options.scale is Scale.ABSOLUTE
    return absolute and all(picture.peak < FAINT for picture in pictures)


def _shares(shares: Sequence[float]) -> str:
    """Format shares: "42%", or of several maps "12–48%"."""
    least, most = percent(min(shares)), percent(max(shares))
    return most if least == most else f"{100 * min(shares):.0f}–{most}"
