"""A panel below or beside the views that can be moved, undocked and hidden."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QWidget

from transformer_viz.widgets.focus import hide_panel
from transformer_viz.widgets.host import Host

HEIGHT_SHARE = 0.38  # of the window's height, when a dock is shown
FOR_THE_VIEWS = 480  # px of it that are left at least, for a map that can be read
LEAST_HEIGHT = 200  # px
WIDTH_SHARE = 0.26  # of the window's width, for one that is beside the views
LEAST_WIDTH, MOST_WIDTH = 300, 520  # px
_BELOW = Qt.DockWidgetArea.BottomDockWidgetArea


class Dock(QDockWidget):
    """Shares its place with the other docks, as tabs; hidden until it is brought up."""

    def __init__(
        self,
        host: Host,
        name: str,
        title: str,
        panel: QWidget,
        area: Qt.DockWidgetArea = _BELOW,
    ) -> None:
        """Make a dock; `name` is that under which the window remembers it."""
        super().__init__(title, host)
        self._host = host
        self.setObjectName(name)
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
        self.setWidget(panel)
        beside = [dock for dock in host.findChildren(Dock) if host.dockWidgetArea(dock) == area]
        host.addDockWidget(area, self)
        if beside:
            host.tabifyDockWidget(beside[-1], self)
        self.hide()

    def bring_up(self) -> None:
        """Show the dock before the others, as high or as wide as the views can spare."""
        if not self.isVisible():
            self.show()
            self._host.make_room()
            if self._host.dockWidgetArea(self) == _BELOW:
                whole = self._host.height()
                height = min(round(whole * HEIGHT_SHARE), max(LEAST_HEIGHT, whole - FOR_THE_VIEWS))
                self._host.resizeDocks([self], [height], Qt.Orientation.Vertical)
            else:
                width = round(self._host.width() * WIDTH_SHARE)
                width = max(LEAST_WIDTH, min(width, MOST_WIDTH))
                self._host.resizeDocks([self], [width], Qt.Orientation.Horizontal)
        self.raise_()

    def put_away(self) -> None:
        """Hide the dock; the keyboard, if it was in there, goes to the views."""
        hide_panel(self, self._host.views)
