"""What is measured, on how much, how far it is, and the button that gives it up."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QWidget,
)

from transformer_viz.drawing.theme import GRID, Theme
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.store import GRAMMAR, Question
from transformer_viz.heads.wording import corpus_name, measured_on
from transformer_viz.widgets.elided_label import ElidedLabel
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.style import dress_spin_box, set_role
from transformer_viz.words.training_wording import duration

FILES = "Sentence pairs or texts (*.tsv *.tmx *.txt *.gz *.bz2 *.xz *.zip);;All files (*)"
_ALIGNED = ("Choose the sentences, one per line", "Choose their translations, one per line")
_MOST_SENTENCES = 100_000
_STEPS = 1000
_FILE, _TWO_FILES = "", ","


class RunBar(QWidget):
    csvWanted = Signal()

    def __init__(self, analysis: HeadAnalysis, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._analysis = analysis
        self._shown: object = None  # whose question the controls show
        self.measure = QPushButton("&Measure the heads")
        self.measure.setToolTip(
            "Run sentences through the model and measure what each head does; takes about a "
            "minute, in the background"
        )
        self.sentences = WholeBox()
        self.sentences.setRange(10, _MOST_SENTENCES)
        self.sentences.setSingleStep(100)
        self.sentences.setGroupSeparatorShown(True)
        self.sentences.setSuffix(" sentences")
        self.sentences.setAccessibleName("Number of sentences")
        self.corpus = QComboBox()
        for named in (self.corpus, self.corpus.view()):
            named.setAccessibleName("Corpus")
        self.corpus.setToolTip("Only the generated corpus has gold annotations")
        self.importance = QCheckBox("Imp&ortance")
        self.importance.setToolTip(
            "Also measure how strongly the loss depends on each head (Michel et al. 2019); takes "
            "longer and needs translations"
        )
        self.cancel = QPushButton("Cancel")
        self.cancel.setAccessibleName("Cancel measuring")
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedSize(36 * GRID, 2 * GRID)
        self.bar.setAccessibleName("Progress of measuring")
        self.said = ElidedLabel("soft")
        self.csv = QPushButton("S&ave CSV…")
        self.csv.setToolTip("Save the table with all statistics and roles for a spreadsheet")
        row = QHBoxLayout(self)
        row.setContentsMargins(3 * GRID, GRID, 3 * GRID, GRID)
        row.setSpacing(2 * GRID)
        for part in (self.measure, self.sentences, self.corpus, self.importance):
            row.addWidget(part)
        row.addWidget(self.bar)
        row.addWidget(self.said, 1)
        row.addWidget(self.cancel)
        row.addWidget(self.csv)

        self._show_question(Question())
        self.measure.clicked.connect(lambda: analysis.measure(self.question))
        self.cancel.clicked.connect(analysis.cancel)
        self.csv.clicked.connect(self.csvWanted)
        self.corpus.activated.connect(self._on_corpus)
        analysis.changed.connect(self._refresh)
        analysis.stateChanged.connect(self._refresh)
        self._refresh()

    @property
    def question(self) -> Question:
        return Question(
            corpus=self.corpus.currentData(),
            sentences=self.sentences.value(),
            importance=self.importance.isChecked(),
        )

    def choose_corpus(self, corpus: str) -> None:
        """A file, or "SOURCE,TARGET"."""
        self._fill_corpus(Question(corpus))

    def apply_theme(self, theme: Theme) -> None:
        dress_spin_box(self.sentences, theme)

    def _refresh(self) -> None:
        analysis = self._analysis
        running, measured = analysis.running is not None, analysis.measured
        for part in (self.measure, self.sentences, self.corpus, self.importance):
            part.setVisible(not running)
        self.measure.setEnabled(analysis.ready)
        self.measure.setText("&Measure again" if measured else "&Measure the heads")
        self.bar.setVisible(running)
        self.cancel.setVisible(running)
        self.csv.setVisible(not running)
        self.csv.setEnabled(measured is not None)
        if measured is not None and measured is not self._shown:
            self._show_question(measured.question)
        self._shown = measured
        self._show_progress()

    def _show_question(self, question: Question) -> None:
        self.sentences.setValue(question.sentences)
        self.importance.setChecked(question.importance)
        self._fill_corpus(question)

    def _show_progress(self) -> None:
        analysis = self._analysis
        progress, running = analysis.progress, analysis.running
        set_role(self.said, "error" if analysis.problem and running is None else "soft")
        if running is None:
            measured = analysis.measured
            about = measured_on(measured) if measured else ""
            self.said.setText(f"⚠ {analysis.problem}" if analysis.problem else about)
            return
        if progress is None:
            self.bar.setRange(0, 0)
            self.said.setText(f"Reading {running.name}…")
            return
        self.bar.setRange(0, _STEPS)
        self.bar.setValue(round(progress.share * _STEPS))
        left = progress.seconds_left
        time = "" if left is None else f", {duration(left)} left"
        self.said.setText(
            f"Measuring the heads of {running.stem}: {progress.done:,} of {progress.total:,}{time}"
        )

    def _fill_corpus(self, question: Question) -> None:
        self.corpus.clear()
        self.corpus.addItem("generated corpus", GRAMMAR)
        if question.corpus != GRAMMAR:
            self.corpus.addItem(corpus_name(question.corpus), question.corpus)
            self.corpus.setCurrentIndex(1)
        self.corpus.addItem("a file…", _FILE)
        self.corpus.addItem("two aligned files…", _TWO_FILES)
        self._chosen = self.corpus.currentIndex()

    def _on_corpus(self, index: int) -> None:
        wanted = self.corpus.itemData(index)
        if wanted not in (_FILE, _TWO_FILES):
            self._chosen = index
            return
        self.corpus.setCurrentIndex(self._chosen)
        if wanted == _FILE:
            titles = {"Choose a table of sentence pairs, or a text": FILES}
        else:
            titles = dict.fromkeys(_ALIGNED, "All files (*)")
        names: list[str] = []
        for title, files in titles.items():
            start = str(Path(names[-1]).parent) if names else ""
            name, _filter = QFileDialog.getOpenFileName(self, title, start, files)
            if not name:
                return
            names.append(name)
        self.choose_corpus(",".join(names))
