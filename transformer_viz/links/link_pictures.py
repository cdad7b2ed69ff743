"""From a trace, heads and options to links. No widget in here: safe to run in any thread."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.counted import counted
from core.text.tokens import Token
from core.trace.head_map import head_map
from core.trace.sinks import sink_entries
from core.trace.trace import AttentionKind, Head, Trace
from transformer_viz.drawing.head_colors import color_slots
from transformer_viz.drawing.numbers import percent
from transformer_viz.drawing.scales import WEIGHT
from transformer_viz.engine.quantities import Found
from transformer_viz.links.link_choice import MOST_LINKS, Links, choose_links, merged
from transformer_viz.links.link_scene import LinksPicture
from transformer_viz.state.options import Combine, LinksForm, ViewOptions
from transformer_viz.state.selection import Selection
from transformer_viz.widgets.head_pictures import MapAxes
from transformer_viz.words.quantity_wording import NAMES
from transformer_viz.words.wording import head_name

Groups = tuple[tuple[Head, ...], ...]

HEADINGS = {
    AttentionKind.ENCODER_SELF: ("query · source", "key · source"),
    AttentionKind.DECODER_SELF: ("query → predicts · target", "key · target"),
    AttentionKind.CROSS: ("query → predicts · target", "key · source"),
}
ARC_HEADINGS = {
    AttentionKind.ENCODER_SELF: ("above: key comes earlier", "below: key comes later"),
    AttentionKind.DECODER_SELF: ("key comes earlier", ""),
}


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The series chosen so far.

    Attributes:
        axes: the tokens that queries and keys of the picture stand for.
        hidden: of all that the rows have, what falls on hidden specials; the mean of the series.
    """

    picture: LinksPicture
    axes: MapAxes
    hidden: float


def groups_of(selection: Selection, options: ViewOptions) -> Groups:
    """The heads of each series: every selected one for itself, or all of them for their mean."""
    if options.combine is Combine.MEAN:
        return (selection.heads,)
    return tuple((head,) for head in selection.heads)


def pictures(
    found: Found, groups: Groups, axes: MapAxes, form: LinksForm, options: ViewOptions
) -> Iterator[Chosen]:
    """The picture of the first series, of the first two and so on."""
    trace, kind = found.trace, groups[0][0].kind
    measure = found.measure(kind)
    nothing = replace(_picture(trace, groups, axes, form), noun=measure.noun, top=measure.top)
    apart = 0 if kind is AttentionKind.CROSS else options.links_distance
    drawn: list[Links] = []
    hidden: list[float] = []
    sinks: set[tuple[int, int]] = set()
    for series, heads in enumerate(groups):
        shown = head_map(trace, heads, axes.rows, axes.columns)
        links = choose_links(
            shown.weights,
            shown.allowed,
            share=options.links_mass,
            threshold=options.threshold,
            distance=apart,
            series=series,
        )
        drawn.append(links)
        if measure is WEIGHT:
            spans, tokens = axes.columns.spans, trace.key_tokens(kind)
            resting = sink_entries(shown.weights, shown.allowed, spans, tokens, kind)
            sinks |= {(series, sink.key) for sink in resting}
        left_out = float(shown.hidden.sum())
        whole = left_out + float(shown.weights.sum())
        hidden.append(left_out / whole if whole else 0.0)  # a head that is off moves nothing
        picture = replace(nothing, links=merged(drawn), sinks=frozenset(sinks))
        yield Chosen(picture, axes, sum(hidden) / len(hidden))


def _picture(trace: Trace, groups: Groups, axes: MapAxes, form: LinksForm) -> LinksPicture:
    """The tokens and the series, without links."""
    kind = groups[0][0].kind
    predicted: tuple[Token, ...] = ()
    if kind is not AttentionKind.ENCODER_SELF and trace.predicted_tokens:
        predicted = tuple(trace.predicted_tokens[span[-1]] for span in axes.rows.spans)
    firsts = [heads[0] for heads in groups]
    names = [head_name(heads[0]) for heads in groups]
    mean = len(groups[0]) > 1
    return LinksPicture(
        form=form,
        queries=axes.rows.tokens,
        keys=axes.columns.tokens,
        predicted=predicted,
        slots=() if mean else color_slots(firsts),
        names=(f"mean of {len(groups[0])} heads",) if mean else tuple(names),
        headings=ARC_HEADINGS[kind] if form is LinksForm.ARCS else HEADINGS[kind],
        ahead=kind is not AttentionKind.DECODER_SELF,
    )


def caption(kind: AttentionKind, options: ViewOptions, chosen: Chosen) -> str:
    """What is drawn and what is not, in words."""
    links, noun, wanted = chosen.picture.links, chosen.picture.noun, options.quantity
    rule = f"Each query's largest links, up to {percent(options.links_mass)} of its {noun}"
    if options.threshold > 0:
        rule += f", none below {options.threshold:g}"
    if options.links_distance > 0 and kind is not AttentionKind.CROSS:
        rule += f", none shorter than {counted(options.links_distance, 'token')}"
    drawn = len(links)
    counts = f"{drawn:,} of {links.possible:,} links drawn"
    if drawn == MOST_LINKS:
        counts += " (the maximum)"
    sentences = [f"{rule}: {counts}", f"Width = {noun}"]
    ends = set(zip(links.series.tolist(), links.key.tolist(), strict=True))
    if chosen.picture.sinks & ends:
        sentences.append("Dashed: to a sink, which receives weight whatever the query is")
    if options.hide_specials:
        sentences.append(f"Hidden special tokens hold {percent(chosen.hidden, 1)} of the {noun}")
    if wanted.of_layer:
        sentences.append(f"{NAMES[wanted]} has one map per layer: see the heatmap")
    elif wanted.noun != noun:
        sentences.append(f"{NAMES[wanted]} cannot be shown as links")
    return ". ".join(sentences) + "."
