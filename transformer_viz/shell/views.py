"""The views of the stage: a row for each, in the order of their tabs.

A new view is a folder with a `StageView` and a row here. Its menu entry, its key (Alt and its
number, 0 for the tenth), its tab, and its name in settings and session files follow from the row.
"""

from collections.abc import Callable
from dataclasses import dataclass

from transformer_viz.architecture.architecture import Architecture
from transformer_viz.by_hand.by_hand import ByHand
from transformer_viz.compare.compare import Compare
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.gates.ablation import Ablation
from transformer_viz.heatmap.heatmap import Heatmap
from transformer_viz.layers.layers import LayersView
from transformer_viz.links.links import Links
from transformer_viz.paper.paper import PaperView
from transformer_viz.positions.positions import Positions
from transformer_viz.reach.reach import ReachView
from transformer_viz.scores.scores import Scores
from transformer_viz.shell.controller import Controller
from transformer_viz.state.session import Session
from transformer_viz.stream.stream import StreamView
from transformer_viz.tree.tree import TreeView
from transformer_viz.widgets.actions import plain
from transformer_viz.widgets.stage_view import StageView


@dataclass(frozen=True, slots=True)
class ViewTab:
    """One view of the stage.

    Attributes:
        name: as files and commands call it.
        menu_text: its title with a mnemonic mark.
        make: builds the view, when the window is built.
    """

    name: str
    menu_text: str
    make: Callable[[Session, Controller], StageView]

    @property
    def title(self) -> str:
        """The text of its tab."""
        return plain(self.menu_text)


TABS = (
    ViewTab("heatmap", "&Heatmap", lambda session, desk: Heatmap(session, desk.quantities)),
    ViewTab("links", "&Links", lambda session, desk: Links(session, desk.quantities)),
    ViewTab("scores", "&Scores", lambda session, _desk: Scores(session)),
    ViewTab("positions", "Positi&ons", lambda session, desk: Positions(session, desk.what_if)),
    ViewTab("decoding", "Decodin&g", lambda session, desk: DecodingView(session, desk.decoding)),
    ViewTab("compare", "Co&mpare", lambda session, desk: Compare(session, desk.comparison)),
    ViewTab(
        "reach", "&Reach", lambda session, desk: ReachView(session, desk.stretching, desk.distance)
    ),
    ViewTab("ablation", "A&blation", lambda session, desk: Ablation(session, desk.gating)),
    ViewTab(
        "architecture", "Architect&ure", lambda session, desk: Architecture(session, desk.states)
    ),
    ViewTab(
        "stream",
        "To&ken stream",
        lambda session, desk: StreamView(session, desk.states, desk.readouts, desk.decoding.walk),
    ),
    ViewTab("by_hand", "B&y hand", lambda session, _desk: ByHand(session)),
    ViewTab("layers", "L&ayers", lambda session, desk: LayersView(session, desk.layer_costs)),
    ViewTab("paper", "&Paper", PaperView),
    ViewTab("tree", "Tr&ee", lambda session, _desk: TreeView(session)),
)
VIEW_NAMES = tuple(tab.name for tab in TABS)
