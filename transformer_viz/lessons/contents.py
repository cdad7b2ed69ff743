"""The lessons that there are, those that are done marked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.counted import counted
from core.lessons.lesson import Lesson
from transformer_viz.drawing.theme import GRID
from transformer_viz.widgets.text_line import label

_LESSON = Qt.ItemDataRole.UserRole
DONE = "✓ "


class LessonContents(QWidget):
    """A course: a row for each lesson; Enter or a double click begins it."""

    lessonWanted = Signal(object)  # Lesson
    ownWanted = Signal()  # the course that comes with the program, in place of another one

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = label("title", wrap=True)
        self.own = QPushButton("Built-in &course")
        self.own.setToolTip("Show the course that comes with the program")
        self.list = QListWidget()
        self.list.setAccessibleName("Lessons")
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setSpacing(GRID)
        self.problems = label("warning", wrap=True)
        self.progress = label("faint")
        self.begin = QPushButton("&Begin")
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 3 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(self.title)
        column.addWidget(self.list, 1)
        column.addWidget(self.problems)
        row = QHBoxLayout()
        row.addWidget(self.progress, 1)
        row.addWidget(self.own)
        row.addWidget(self.begin)
        column.addLayout(row)
        self.list.itemActivated.connect(lambda _item: self._wish())
        self.begin.clicked.connect(self._wish)
        self.own.clicked.connect(self.ownWanted)

    def show_lessons(
        self,
        title: str,
        lessons: Sequence[Lesson],
        done: Collection[str],
        problems: Sequence[str],
    ) -> None:
        """List lessons under the title of their course, which is empty for the built-in one;
        `done`: the names of those that were finished. The first one that is not is chosen."""
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.own.setVisible(bool(title))
        self.list.clear()
        for lesson in lessons:
            mark = DONE if lesson.name in done else ""
            time = f" ({counted(lesson.minutes, 'minute')})" if lesson.minutes else ""
            about = f"\n{lesson.about}" if lesson.about else ""
            item = QListWidgetItem(f"{mark}{lesson.title}{time}{about}", self.list)
            item.setData(_LESSON, lesson)
        undone = (row for row, lesson in enumerate(lessons) if lesson.name not in done)
        self.list.setCurrentRow(next(undone, 0))
        finished = sum(lesson.name in done for lesson in lessons)
        self.progress.setText(f"{finished} of {counted(len(lessons), 'lesson')} done")
        self.problems.setText("\n".join(problems))
        self.problems.setVisible(bool(problems))
        self.begin.setEnabled(bool(lessons))

    def _wish(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.lessonWanted.emit(item.data(_LESSON))
