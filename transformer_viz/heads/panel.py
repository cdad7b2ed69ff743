"""The Heads panel: measuring, the table and the map of the heads, and what each of them does."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from core.trace.trace import Head
from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.head_map import ROLE, HeadMap, sort_shown
from transformer_viz.heads.mattering import Mattering
from transformer_viz.heads.mattering_page import MatteringPage
from transformer_viz.heads.report import Report
from transformer_viz.heads.resolving import Resolving
from transformer_viz.heads.resolving_page import ResolvingPage
from transformer_viz.heads.role_page import RolePage
from transformer_viz.heads.run_bar import RunBar
from transformer_viz.heads.table import HeadsTable
from transformer_viz.heads.wording import (
    COREFERENCE,
    alignment_in_words,
    column,
    listed,
    sort_name,
)
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.focus import Panel
from transformer_viz.widgets.placeholder import Placeholder
from transformer_viz.widgets.style import set_role

TABLE, MAP, RESOLVING, MATTERING = range(4)  # tabs
_LEFT_SHARE = (58, 42)
NOT_MEASURED = (
    "The heads of {} have not been measured yet",
    "“Measure the heads” runs a sample of sentences through the model, which takes about a "
    "minute. Each head then has its statistics, the roles that it passes, "
    "and the sentences that show them.",
)
MEASURING = ("Measuring…", "You can continue working; the result appears here and is stored.")
NO_MODEL = ("No model yet", "Open a model to measure its heads.")


class HeadsPanel(Panel):
    showWanted = Signal(object, object)  # Head and Evidence
    csvWanted = Signal()

    def __init__(
        self,
        session: Session,
        analysis: HeadAnalysis,
        resolving: Resolving,
        mattering: Mattering,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._analysis = analysis
        self._report: Report | None = None
        self.run_bar = RunBar(analysis)
        self.table = HeadsTable()
        self.map = HeadMap(session)
        self.page = RolePage(session)
        self.resolving = ResolvingPage(session, resolving)
        self.mattering = MatteringPage(session, mattering)
        self.colored_by = QComboBox()
        for part in (self.colored_by, self.colored_by.view()):
            part.setAccessibleName("Colour the map by")
        self._about = ElidedLabel("soft")
        self._empty = Placeholder()
        self._lay_out()
        self._connect()
        self._on_measured()
        self._show_state()

    def focus_part(self) -> QWidget:
        """The heads, or what measures them."""
        page = self._pages.currentWidget()
        if isinstance(page, Panel):
            return page.focus_part()
        if self._report is None:
            parts = (self.run_bar.measure, self.run_bar.cancel, self.tabs)
            return next(part for part in parts if part.isEnabled() and not part.isHidden())
        return self.table if self.tabs.currentIndex() == TABLE else self.map

    def show_tab(self, index: int) -> None:
        self.tabs.setCurrentIndex(index)

    def show_evidence(self) -> None:
        """Give the keyboard to the sentences."""
        self.page.evidence.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def apply_theme(self, theme: Theme) -> None:
        for part in (
            *(self.run_bar, self.table, self.map, self.page),
            *(self.resolving, self.mattering),
        ):
            part.apply_theme(theme)

    def set_color_map(self, color_map: ColorMap) -> None:
        for part in (self.map, self.resolving):
            part.set_color_map(color_map)

    def _lay_out(self) -> None:
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Pages of the Heads panel")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        for title in ("Tab&le", "Ma&p", "Which head resolves “&it”?", "Which heads matter &here?"):
            self.tabs.addTab(title)
        header = QHBoxLayout()
        header.setContentsMargins(0, 0, 0, 0)
        header.setSpacing(2 * GRID)
        header.addWidget(self.tabs)
        header.addWidget(self.run_bar, 1)
        self._views = QStackedWidget()
        self._views.addWidget(self.table)
        self._views.addWidget(self._map_page())
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setHandleWidth(1)
        splitter.setChildrenCollapsible(False)
        for part, share in zip((self._views, self.page), _LEFT_SHARE, strict=True):
            splitter.addWidget(part)
            splitter.setStretchFactor(splitter.indexOf(part), share)
        splitter.setSizes([12 * share for share in _LEFT_SHARE])
        nothing = QWidget()
        set_role(nothing, "paper")
        QVBoxLayout(nothing).addWidget(self._empty)
        self._measured = QStackedWidget()
        self._measured.addWidget(splitter)
        self._measured.addWidget(nothing)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._measured)
        self._pages.addWidget(self.resolving)
        self._pages.addWidget(self.mattering)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(header)
        layout.addWidget(self._pages, 1)

    def _map_page(self) -> QWidget:
        by = QLabel("Colour by")
        set_role(by, "soft")
        row = QHBoxLayout()
        row.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 0)
        row.setSpacing(2 * GRID)
        row.addWidget(by)
        row.addWidget(self.colored_by)
        row.addWidget(self._about, 1)
        scrolled = QScrollArea()
        scrolled.setFrameShape(QScrollArea.Shape.NoFrame)
        scrolled.setWidgetResizable(True)
        scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scrolled.setWidget(self.map)
        page = QWidget()
        set_role(page, "paper")
        column_ = QVBoxLayout(page)
        column_.setContentsMargins(0, 0, 0, 0)
        column_.setSpacing(0)
        column_.addLayout(row)
        column_.addWidget(scrolled, 1)
        return page

    def _connect(self) -> None:
        self._analysis.changed.connect(self._on_measured)
        self._analysis.stateChanged.connect(self._show_state)
        self._session.selectionChanged.connect(self._follow)
        self.tabs.currentChanged.connect(self._show_tab)
        self.colored_by.activated.connect(self._color)
        self.table.chosen.connect(self._select)
        for part in (self.table, self.map):
            part.evidenceWanted.connect(self.show_evidence)
        self.page.wanted.connect(self.showWanted)
        self.run_bar.csvWanted.connect(self.csvWanted)

    def _on_measured(self) -> None:
        self._report = self._analysis.report
        if self._report is not None:
            self._fill_colors(self._report)
            self.table.show_report(self._report)
            self.page.show_report(self._report)
            self._color()
            self._follow()
        self._show_state()

    def _show_state(self) -> None:
        self._measured.setCurrentIndex(0 if self._report is not None else 1)
        if self._analysis.running is not None:
            self._empty.say(*MEASURING)
        else:
            model, (title, hint) = self._session.model, NOT_MEASURED
            self._empty.say(*(NO_MODEL if model is None else (title.format(model.name), hint)))

    def _fill_colors(self, report: Report) -> None:
        """Roles first: they are what one asks for."""
        chosen = self.colored_by.currentData() or ROLE + COREFERENCE
        self.colored_by.clear()
        for sort in sorted(report.sorts, key=lambda sort: -report.sorts[sort]):
            self.colored_by.addItem(f"role: {sort_name(sort).short}", ROLE + sort)
        if report.sorts:
            self.colored_by.insertSeparator(self.colored_by.count())
        for name in listed(report.statistics):
            self.colored_by.addItem(column(name).name, name)
        self.colored_by.setCurrentIndex(max(0, self.colored_by.findData(chosen)))

    def _color(self) -> None:
        shown = self.colored_by.currentData()
        if self._report is not None and shown:
            self.map.show_report(self._report, shown)
            alignment = self._report.alignments.get(shown)
            self._about.setText("" if alignment is None else alignment_in_words(alignment))
            sort = sort_shown(shown)
            if sort and self.tabs.currentIndex() == MAP:
                self.page.prefer(sort)

    def _show_tab(self, index: int) -> None:
        self._pages.setCurrentIndex({RESOLVING: 1, MATTERING: 2}.get(index, 0))
        self.run_bar.setVisible(index in (TABLE, MAP))
        if index in (TABLE, MAP):
            self._views.setCurrentIndex(index)
        if index == MAP:
            self._color()

    def _follow(self) -> None:
        self.table.select(self._session.selection.primary)

    def _select(self, head: Head) -> None:
        self._session.select(kind=head.kind, layer=head.layer, head=head.head)
