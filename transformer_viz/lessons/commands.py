"""The lessons in the window: their dock, their commands, and the lesson that is going on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.errors import UserError
from core.lessons.lesson import Lesson, read_lesson
from core.lessons.library import course_folder, read_course
from transformer_viz.drawing.theme import Theme
from transformer_viz.lessons.contents import LessonContents
from transformer_viz.lessons.director import Director
from transformer_viz.lessons.page import LessonPage
from transformer_viz.lessons.ring import Ring
from transformer_viz.lessons.state import Shown, state_at
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.dock import Dock
from transformer_viz.widgets.host import Host


class LessonCommands(QObject):
    """Leads through a lesson: a step at a time, each with everything that it shows.

    One can play at any point: `Show me` restores the step. At the end of a lesson, what was shown
    before it comes back.
    """

    def __init__(
        self,
        host: Host,
        session: Session,
        explorer: Explorer,
        show_view: Callable[[str], object],
        part: Callable[[str], QWidget],
    ) -> None:
        """Add the commands; `part`: a part of the window by the name that lessons give it."""
        super().__init__(host)
        self._host = host
        self._session = session
        self._explorer = explorer
        self._part = part
        self._director = Director(session, explorer, host.show_text, show_view, self)
        self._before: Shown | None = None
        self._course: list[Lesson] = []
        self._problems: list[str] = []
        self.lesson: Lesson | None = None
        self.index = 0
        self.dock: Dock | None = None
        self.panel = QStackedWidget()
        self.contents = LessonContents()
        self.page = LessonPage()
        self.ring = Ring(host)
        self.panel.addWidget(self.contents)
        self.panel.addWidget(self.page)
        self.contents.lessonWanted.connect(self.begin)
        self.page.contentsWanted.connect(self.leave)
        self.page.stepWanted.connect(self.step)
        self._director.finished.connect(self._on_shown)
        self._director.failed.connect(self._on_failed)
        for changed in (session.traceChanged, session.selectionChanged):
            changed.connect(self._refresh)

    def add_to(self, actions: Actions) -> None:
        actions.add("lessons", actions.menu("H&elp"), "Less&ons", self.show, "Ctrl+Shift+L")

    def show(self) -> None:
        """Show the lesson that is going on, else the contents, and give them the keyboard."""
        dock = self._made()
        dock.bring_up()
        if self.lesson is None:
            self._show_contents()
        self._focus()

    def open(self, path: Path) -> None:
        """Begin the lesson of a file; one that cannot be read is named in the window."""
        try:
            self.begin(read_lesson(path))
        except UserError as error:
            self._explorer.openFailed.emit(str(error))

    def begin(self, lesson: Lesson) -> None:
        """Begin a lesson at its first step."""
        self._made().bring_up()
        if self._before is None:
            self._before = self._director.snapshot()
        self.lesson = lesson
        self.panel.setCurrentWidget(self.page)
        self._show_step(0)
        self._focus()

    def step(self, by: int) -> None:
        """Go to the next step (1), the one before (-1), or show this one again (0)."""
        lesson = self.lesson
        if lesson is None:
            return
        index = self.index + by
        if index >= len(lesson.steps):
            done = (*self._explorer.settings.lessons_done, lesson.name)
            self._explorer.change_settings(lessons_done=tuple(dict.fromkeys(done)))
            self.leave()
        elif index >= 0:
            self._show_step(index)

    def leave(self) -> None:
        """End the lesson; what was shown before it comes back."""
        self.lesson = None
        self.ring.put_around(None)
        if self._before is not None:
            self._director.show(self._before, Path())
            self._before = None
        self._show_contents()
        self._focus()

    def panels(self) -> list[QWidget]:
        """What F6 leads to as well."""
        return [self.panel] if self.dock is not None else []

    def apply_theme(self, theme: Theme) -> None:
        self.ring.apply_theme(theme)

    def _made(self) -> Dock:
        if self.dock is None:
            area = Qt.DockWidgetArea.RightDockWidgetArea
            self.dock = Dock(self._host, "lessons", "Lessons", self.panel, area)
            self.dock.visibilityChanged.connect(self._on_visibility)
        return self.dock

    def _show_contents(self) -> None:
        if not self._course:
            self._course, self._problems = read_course(course_folder())
        done = self._explorer.settings.lessons_done
        self.contents.show_lessons(self._course, done, self._problems)
        self.panel.setCurrentWidget(self.contents)

    def _show_step(self, index: int) -> None:
        assert self.lesson is not None
        self.index = index
        self.ring.put_around(None)
        self.page.show_step(self.lesson, index)
        self._director.show(state_at(self.lesson, index), self.lesson.path.parent)

    def _on_shown(self) -> None:
        if self.lesson is None:
            return
        point = self.lesson.steps[self.index].doing.point
        part = None if point is None else self._part(point)
        self.ring.put_around(part if self.panel.isVisible() else None)
        self._refresh()

    def _on_failed(self, problem: str) -> None:
        if self.lesson is not None:
            self.page.say(problem)
        else:
            self._host.say(problem)

    def _refresh(self) -> None:
        if self.lesson is not None and not self._director.is_busy:
            self.page.show_trace(self._session.trace, self._session.selection.primary)

    def _on_visibility(self, visible: bool) -> None:
        if not visible:
            self.ring.put_around(None)
        QTimer.singleShot(0, self._host.fit_panels)  # once the dock has its width

    def _focus(self) -> None:
        part = self.page.next if self.lesson is not None else self.contents.list
        part.setFocus(Qt.FocusReason.ShortcutFocusReason)
