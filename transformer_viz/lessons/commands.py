"""The lessons in the window: their dock, their commands, and the lesson that is going on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QWidget

from core.errors import UserError
from core.files import is_folder
from core.lessons.lesson import Lesson, read_lesson
from core.lessons.library import course_folder, read_course
from transformer_viz.drawing.theme import Theme
from transformer_viz.lessons.contents import LessonContents
from transformer_viz.lessons.director import Director
from transformer_viz.lessons.page import LessonPage
from transformer_viz.lessons.presenting import Presenting
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
        show_large: Callable[[bool], object],
    ) -> None:
        """Add the commands; `part`: a part of the window by the name that lessons give it;
        `show_large` makes the window legible for a class, or ends that."""
        super().__init__(host)
        self._host = host
        self._session = session
        self._explorer = explorer
        self._part = part
        self._show_large = show_large
        self._director = Director(session, explorer, host.show_text, show_view, self)
        self._before: Shown | None = None
        self._folder = course_folder()
        self._course: list[Lesson] | None = None  # None: not read yet
        self._begins: list[QAction] = []  # a command for each lesson of the course
        self._problems: list[str] = []
        self.lesson: Lesson | None = None
        self.index = 0
        self._return: QAction
        self.dock: Dock | None = None
        self.panel = QStackedWidget()
        self.contents = LessonContents()
        self.page = LessonPage()
        self.ring = Ring(host)
        self.presenting = Presenting(host)
        self.panel.addWidget(self.contents)
        self.panel.addWidget(self.page)
        self.contents.lessonWanted.connect(self.begin)
        self.contents.ownWanted.connect(lambda: self.open_course(course_folder()))
        self.page.contentsWanted.connect(self.leave)
        self.page.stepWanted.connect(self.step)
        self.presenting.stepWanted.connect(self.step)
        self.presenting.textWanted.connect(self._switch_text)
        self.presenting.endWanted.connect(self.switch_presenting)
        self._director.finished.connect(self._on_shown)
        self._director.failed.connect(self._on_failed)
        for changed in (session.traceChanged, session.selectionChanged):
            changed.connect(self._refresh)

    def add_to(self, actions: Actions) -> None:
        menu = actions.menu("H&elp")
        actions.add("lessons", menu, "Less&ons", self.show, "Ctrl+Shift+L")
        self._return = actions.add(
            "back_to_lesson", menu, "&Back to the lesson", self.come_back, "Ctrl+Shift+K"
        )
        self._return.setEnabled(False)

    def listed(self) -> list[tuple[QAction, str, str]]:
        """A command for each lesson of the course, with the name by which it is found."""
        self._read()
        return [(begin, f"Lessons · {begin.text()}", "") for begin in self._begins]

    def show(self) -> None:
        """Show the lesson that is going on, else the contents, and give them the keyboard."""
        dock = self._made()
        dock.bring_up()
        if self.lesson is None:
            self._show_contents()
        self._focus()

    def come_back(self) -> None:
        """Show the lesson that is going on, and again what its step shows."""
        if self.lesson is not None:
            if not self.presenting.is_on:
                self._made().bring_up()
            self.step(0)
            self._focus()

    def switch_presenting(self) -> None:
        """Present the lesson that is going on to a class, or end that."""
        on = self.lesson is not None and not self.presenting.is_on
        if on == self.presenting.is_on:
            return
        if on:
            self._made().hide()
            self.presenting.start()
        else:
            self.presenting.stop()
        self._show_large(on)
        if self.lesson is not None:
            if not on:
                self._made().bring_up()
            self._put_ring()

    def open(self, path: Path) -> None:
        """Begin the lesson of a file, or show the contents of a folder of lessons; a lesson that
        cannot be read is named in the window."""
        if is_folder(path):
            self.open_course(path)
            return
        try:
            self.begin(read_lesson(path))
        except UserError as error:
            self._explorer.openFailed.emit(str(error))

    def open_course(self, folder: Path) -> None:
        """Show the contents of a folder of lessons, in place of those of another one."""
        self._folder, self._course = folder, None
        if self.lesson is not None:
            self.leave()
        self.show()

    def begin(self, lesson: Lesson) -> None:
        """Begin a lesson at its first step."""
        self._made().bring_up()
        if self._before is None:
            self._before = self._director.snapshot()
        self._go(lesson)
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
        self._go(None)
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
        self.presenting.apply_theme(theme)

    def close(self) -> None:
        """Give the pointer its usual form back."""
        if self.presenting.is_on:
            self.presenting.stop()

    def _switch_text(self) -> None:
        """Show the panel beside the strip, or hide it again."""
        if self.page.isVisible():
            self._made().hide()
            self._focus()
        else:
            self.show()

    def _made(self) -> Dock:
        if self.dock is None:
            area = Qt.DockWidgetArea.RightDockWidgetArea
            self.dock = Dock(self._host, "lessons", "Lessons", self.panel, area)
            self.dock.visibilityChanged.connect(self._on_visibility)
        return self.dock

    def _go(self, lesson: Lesson | None) -> None:
        self.lesson = lesson
        if lesson is None and self.presenting.is_on:
            self.switch_presenting()
        self._return.setEnabled(lesson is not None)

    def _read(self) -> list[Lesson]:
        if self._course is None:
            self._course, self._problems = read_course(self._folder)
            self._begins = [QAction(lesson.title, self) for lesson in self._course]
            for begin, lesson in zip(self._begins, self._course, strict=True):
                begin.triggered.connect(lambda _checked, one=lesson: self.begin(one))
        return self._course

    def _show_contents(self) -> None:
        course = self._read()
        title = "" if self._folder == course_folder() else self._folder.name
        done = self._explorer.settings.lessons_done
        self.contents.show_lessons(title, course, done, self._problems)
        self.panel.setCurrentWidget(self.contents)

    def _show_step(self, index: int) -> None:
        assert self.lesson is not None
        self.index = index
        self.ring.put_around(None)
        self.page.show_step(self.lesson, index)
        self.presenting.show_step(self.lesson, index)
        self._director.show(state_at(self.lesson, index), self.lesson.path.parent)

    def _on_shown(self) -> None:
        if self.lesson is None:
            return
        self._put_ring()
        self._refresh()

    def _put_ring(self) -> None:
        assert self.lesson is not None
        point = self.lesson.steps[self.index].doing.point
        part = None if point is None else self._part(point)
        is_seen = self.panel.isVisible() or self.presenting.is_on
        self.ring.put_around(part if is_seen else None)

    def _on_failed(self, problem: str) -> None:
        if self.lesson is not None and not self.presenting.is_on:
            self.page.say(problem)
        else:
            self._host.say(problem)

    def _refresh(self) -> None:
        if self.lesson is not None and not self._director.is_busy:
            self.page.show_trace(self._session.trace, self._session.selection.primary)

    def _on_visibility(self, visible: bool) -> None:
        if not visible and not self.presenting.is_on:
            self.ring.put_around(None)
        QTimer.singleShot(0, self._host.fit_panels)  # once the dock has its width

    def _focus(self) -> None:
        part: QWidget = self.contents.list
        if self.lesson is not None:
            collapsed = self.presenting.is_on and not self.page.isVisible()
            part = self.presenting.next if collapsed else self.page.next
        part.setFocus(Qt.FocusReason.ShortcutFocusReason)
