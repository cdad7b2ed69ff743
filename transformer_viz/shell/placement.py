"""Where a window opens: as it was last time, but always on a screen and no larger than it."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize

FRAME = QSize(8, 40)  # left for a title bar and borders, which are not known before it is shown
REACHABLE = 64  # pixels of its title bar that must be on a screen


def placed(wanted: QRect, screens: Sequence[QRect]) -> QRect:
    """The window's rectangle, without its frame.

    Args:
        wanted: as saved; a null position leaves the place to the first screen's middle.
        screens: the available geometry of each, the first one first; not empty.
    """
    title = QRect(wanted.x(), wanted.y() - FRAME.height(), wanted.width(), FRAME.height())
    visible = [screen.intersected(title) for screen in screens]
    best = max(range(len(screens)), key=lambda at: visible[at].width() * visible[at].height())
    there = visible[best].width() >= REACHABLE and visible[best].height() > 0
    screen = screens[best if there else 0]
    room = screen.size() - FRAME
    size = wanted.size().boundedTo(room)
    if not there:
        rect = QRect(screen.topLeft(), size)
        rect.moveCenter(screen.center())
    else:
        rect = QRect(wanted.topLeft(), size)
        rect.moveRight(min(rect.right(), screen.right() - FRAME.width() // 2))
        rect.moveBottom(min(rect.bottom(), screen.bottom()))
    rect.moveLeft(max(rect.left(), screen.left()))
    rect.moveTop(max(rect.top(), screen.top() + FRAME.height()))
    return rect
