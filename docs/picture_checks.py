"""What a picture has to show: each check says in a sentence what is missing, or nothing.

Without them, a window that is still empty makes a picture too, and so does a run in which nothing
was learned.
"""

from collections.abc import Callable
from typing import TypeAlias

from picture_acts import Scene, key_of, row_of, visible
from PySide6.QtWidgets import QLabel

from core.decoding.beam_tree import NodeStatus
from core.trace.row_steps import row_steps
from core.trace.trace import AttentionKind
from transformer_viz.export.dialog import ExportDialog
from transformer_viz.hub.dialog import GetModel
from transformer_viz.links.links import Links
from transformer_viz.positions.positions import Positions
from transformer_viz.reach.reach import ReachView
from transformer_viz.scores.scores import Scores
from transformer_viz.state.options import Quantity
from transformer_viz.training.new_run import NewRun
from transformer_viz.training.specialists import Specialists

Check: TypeAlias = Callable[[Scene], str]

CLEAR = 0.5
"""The share of a row from which on one sees that it is the largest."""


def every(*checks: Check) -> Check:
    """The first of the sentences."""
    return lambda scene: next(filter(None, (check(scene) for check in checks)), "")


# The text and the selection


def translation(text: str) -> Check:
    """The translation shown is this one."""

    def check(scene: Scene) -> str:
        trace = scene.session.trace
        if trace is None:
            return "Nothing is translated."
        found = trace.translation
        return "" if found == text else f"The translation is “{found}” instead of “{text}”."

    return check


def looks(query: str, key: str, least: float = CLEAR) -> Check:
    """In the selected head, one token gives another at least this weight."""

    def check(scene: Scene) -> str:
        trace, head = scene.session.trace, scene.session.selection.primary
        if trace is None:
            return f"No head shows what “{query}” looks at."
        try:
            weight = trace.row(*head, row_of(scene, query))[key_of(scene, key)]
        except ValueError:
            return f"“{query}” or “{key}” is not a token of the head's map."
        few = f"“{query}” gives “{key}” a weight of {weight:.2f}, less than {least}."
        return "" if weight >= least else few

    return check


def pins(count: int) -> Check:
    """So many cells or rows are pinned."""

    def check(scene: Scene) -> str:
        found = len(scene.session.selection.pinned)
        return "" if found == count else f"The number of pins is {found} instead of {count}."

    return check


def several_heads(scene: Scene) -> str:
    shown = scene.session.trace is not None and len(scene.session.selection.heads) > 1
    return "" if shown else "Fewer than two heads are selected."


def heads_off(scene: Scene) -> str:
    """Heads are off, and the translation is another one for it."""
    change = scene.controller.gating.change
    if change is None:
        return "No head is off."
    return "The translation is the same as with all heads on." if change.same else ""


def switched_off(scene: Scene) -> str:
    """A part of the model is switched off, and what that does is known."""
    change = scene.controller.gating.change
    known = change is not None and change.forced is not None and not scene.session.is_intact
    return "" if known else "No part of the model is switched off."


# The views


def drawn(scene: Scene) -> str:
    stage = scene.window.stage
    return "" if stage.view().has_picture else f"Nothing is drawn in the view {stage.current}."


def map_of(kind: AttentionKind, quantity: Quantity = Quantity.WEIGHT) -> Check:
    """The heatmap is of this kind of attention, and of this quantity."""

    def check(scene: Scene) -> str:
        found = scene.controller.quantities.found
        shown = found is not None and found.quantity is quantity
        of = scene.session.selection.kind
        if not shown or of is not kind:
            return f"No map shows the quantity {quantity} of {kind}."
        return drawn(scene)

    return check


def ordered_by(order: str) -> Check:
    """All heads are in the heads map, by this statistic."""

    def check(scene: Scene) -> str:
        if scene.session.trace is None:
            return "The heads map is empty."
        found = scene.session.options.order
        return "" if found == order else f"The heads map is ordered by {found}, not by {order}."

    return check


def links(scene: Scene) -> str:
    picture = scene.window.stage.of(Links).canvas.picture
    return "" if picture is not None and len(picture.links) else "No links are drawn."


def sharper_unscaled(scene: Scene) -> str:
    """Without ÷ √d_k one key takes nearly all of the row."""
    if nothing := drawn(scene):
        return nothing
    trace = scene.session.trace
    assert trace is not None
    steps = row_steps(trace, scene.session.selection.primary, scene.window.stage.of(Scores).query)
    top, unscaled = steps.weights.max(), steps.unscaled().weights.max()
    if top < unscaled >= 0.9:
        return ""
    return f"The largest weight is {top:.2f} with the division and {unscaled:.2f} without it."


def inspected(scene: Scene) -> str:
    bars = scene.window.inspector.bars
    shown = bars.isVisible() and bars.sizeHint().height() > 0
    return "" if shown else "No row is shown in the inspector."


def page_of_positions(name: str) -> Check:
    def check(scene: Scene) -> str:
        positions = scene.window.stage.of(Positions)
        shown = positions.has_picture and positions.page == name
        return "" if shown else f"The page {name} of the view positions is not drawn."

    return check


def candidates(scene: Scene) -> str:
    known = scene.controller.decoding.candidates
    return "" if known else "No candidates are listed for the next token."


def translations(count: int) -> Check:
    """So many translations of the sentence are listed in the view decoding."""

    def check(scene: Scene) -> str:
        found = len(scene.controller.decoding.hypotheses)
        few = f"The number of translations listed is {found} instead of {count}."
        return "" if found == count else few

    return check


def winner(scene: Scene) -> str:
    """The search has ended with another translation than greedy search."""
    tree, trace = scene.controller.decoding.tree, scene.session.trace
    if trace is None or tree is None or NodeStatus.WINNER not in {one.status for one in tree.nodes}:
        return "The beam tree has no winner."
    greedy = tuple(token.id for token in trace.predicted_tokens)
    return "The winner is the greedy translation." if tree.ids(tree.winner) == greedy else ""


def other_pronoun(scene: Scene) -> str:
    """The two sentences that are compared have different translations."""
    sides = scene.controller.comparison.sides
    if sides is None or drawn(scene):
        return "No sentences are compared."
    same = sides.a.translation == sides.b.translation
    return f"Both sentences are translated as “{sides.a.translation}”." if same else ""


def inserted(count: int) -> Check:
    """So many words are inserted into the sentence."""

    def check(scene: Scene) -> str:
        found = scene.controller.stretching.words
        return "" if found == count else f"{found} words are inserted instead of {count}."

    return check


def far_links(scene: Scene) -> str:
    found = scene.window.stage.of(ReachView).text.far_links.list.links
    return "" if found else "No far links are listed."


def accuracy(scene: Scene) -> str:
    relation = scene.window.stage.of(ReachView).probe.current
    if relation is None:
        return "No accuracy by distance is shown."
    right = relation.model[0]
    few = f"With no words inserted the model is right in only {right:.0%}."
    return "" if right >= CLEAR else few


# The panels


def measured(scene: Scene) -> str:
    report = scene.controller.heads.report
    return "" if report is not None and len(list(report)) else "The heads are not measured."


def resolved(scene: Scene) -> str:
    resolving = scene.controller.resolving
    shown = resolving.heads and resolving.traces
    return "" if shown else "No head that resolves “it” is listed."


def mattering(scene: Scene) -> str:
    found = scene.controller.mattering
    complete = found.current and found.share == 1
    return "" if complete else "The heads that matter for the sentence are not all listed."


def curves(scene: Scene) -> str:
    panel = scene.window.training.panel
    shown = panel is not None and panel.curves.isVisible() and panel.curves.chart.lines
    return "" if shown else "No curves of a run are drawn."


def specialist(scene: Scene) -> str:
    """The run is replayed, and the head in the chart has become a specialist by its end."""
    panel = scene.window.training.panel
    found = None if panel is None else panel.findChild(Specialists)
    if found is None or not found.isVisible() or not found.chart.lines:
        return "No head of a run is drawn."
    last = found.chart.lines[0].y[-1]
    if not last >= CLEAR:
        return f"The head of the run ends at {last:.2f}, less than {CLEAR}."
    return "" if scene.session.origin else "No step of the run is replayed."


# The dialogs


def dialog(kind: type[ExportDialog | GetModel | NewRun]) -> Check:
    """This dialog is open and filled: with a preview, a list of models, or what a run needs."""

    def check(scene: Scene) -> str:
        opened = next((one for one in scene.window.findChildren(kind) if one.isVisible()), None)
        if opened is None:
            return f"No {kind.__name__} dialog is open."
        if isinstance(opened, ExportDialog):
            previews = [one for one in visible(QLabel) if one.accessibleName() == "Preview"]
            filled = any(not preview.pixmap().isNull() for preview in previews)
        elif isinstance(opened, GetModel):
            filled = opened.list.topLevelItemCount() > 1
        else:
            filled = opened.config is not None
        return "" if filled else f"The {kind.__name__} dialog is empty."

    return check
