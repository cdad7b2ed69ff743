"""The middle of the window: one large picture at a time, chosen by tab."""

from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.views import TABS, VIEW_NAMES
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.stage_view import StageView
from transformer_viz.widgets.style import set_role

V = TypeVar("V", bound=StageView)


class Stage(Panel):
    viewChanged = Signal(str)  # name

    def __init__(self, session: Session, controller: Controller) -> None:
        super().__init__()
        self._views = {tab.name: tab.make(session, controller) for tab in TABS}
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setAccessibleName("Views")
        self._pages = QStackedWidget()
        for tab in TABS:
            self.tabs.addTab(tab.title)
            self._pages.addWidget(_scrolling(self._views[tab.name]))
        self.tabs.currentChanged.connect(self._show)
        set_role(self, "paper")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = QVBoxLayout()
        bar.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
        bar.addWidget(self.tabs)
        column.addLayout(bar)
        column.addWidget(self._pages, 1)

    @property
    def current(self) -> str:
        """The name of the view that is shown."""
        return VIEW_NAMES[self.tabs.currentIndex()]

    @property
    def title(self) -> str:
        """What the tab of the view that is shown says."""
        return TABS[self.tabs.currentIndex()].title

    def show_view(self, name: str) -> None:
        """Show the view of this name; the first one for a name that does not exist (any more)."""
        self.tabs.setCurrentIndex(VIEW_NAMES.index(name) if name in VIEW_NAMES else 0)

    def view(self) -> StageView:
        """Return the view that is shown."""
        return self._views[self.current]

    def of(self, kind: type[V]) -> V:
        """Return the view of this class."""
        return next(view for view in self._views.values() if isinstance(view, kind))

    def focus_part(self) -> QWidget:
        return self.view()

    def apply_theme(self, theme: Theme) -> None:
        for view in self._views.values():
            view.apply_theme(theme)

    def set_color_map(self, color_map: ColorMap | str) -> None:
        for view in self._views.values():
            view.set_color_map(color_map)

    def _show(self, index: int) -> None:
        self._pages.setCurrentIndex(index)
        self.viewChanged.emit(self.current)


def _scrolling(view: StageView) -> QScrollArea:
    """A view that a small window scrolls, so that no view keeps the window large."""
    area = QScrollArea()
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidgetResizable(True)
    area.setWidget(view)
    return area
