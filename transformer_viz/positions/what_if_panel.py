"""The sentence without positions, or with its words shuffled, beside the sentence as it is."""

import re
from collections.abc import Iterator

from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.text.words import join_pieces
from core.trace.trace import AttentionKind, Head, Trace
from core.trace.variant import Variant, words_of
from transformer_viz.drawing.colormap import lookup_table
from transformer_viz.drawing.labels import isolated
from transformer_viz.drawing.numbers import share
from transformer_viz.drawing.theme import GRID, LIGHT, Theme
from transformer_viz.engine.stream import Stream
from transformer_viz.positions.variant_canvas import VariantCanvas
from transformer_viz.positions.variant_maps import TokenMap, variant_maps
from transformer_viz.positions.what_if import WhatIf
from transformer_viz.positions.word_order import WordOrder
from transformer_viz.state.options import ColorMap
from transformer_viz.state.session import Session
from transformer_viz.widgets.accessibility import announce
from transformer_viz.widgets.number_boxes import WholeBox
from transformer_viz.widgets.picture import Picture
from transformer_viz.widgets.style import set_role
from transformer_viz.widgets.text_line import PlainLabel, label
from transformer_viz.words.wording import head_name, plain_tooltip, token_name

INLINE_CELLS = 512 * 512
"""A map of so many cells is computed at once; a larger one beside the event loop."""

ROUNDING = 1e-4
"""Weights that differ by no more are the same but for the order of float32 sums."""

LAST_SEED = 9_999
_LONGEST = 80  # characters of a sentence that are shown
_LONG_WORD = re.compile(r"\S{24,}")
_SYLLABLE = re.compile(r"\S{4}")  # after which a line may end in a long word
_BREAK = "\u200b"
_HINT = (
    "Turn positions off, or put the words in another order by dragging one onto another, or both, "
    "and see how attention changes."
)

_READING_HINT = (
    "Colour: weight, 0 to 1. Numbers: token positions. Hover over a cell to find it in every map."
)


class WhatIfPanel(QWidget):
    def __init__(self, session: Session, what_if: WhatIf) -> None:
        super().__init__()
        self._session = session
        self._what_if = what_if
        self._theme = LIGHT
        self._color_map = ColorMap.PAPER
        self._shown: tuple[Variant, Head] | None = None
        self._stream = Stream(self)
        self._stream.arrived.connect(self._show_maps)
        self.canvas = VariantCanvas()
        self.canvas.focusMoved.connect(self._show_reading)
        self._build()
        self.off.toggled.connect(lambda off: what_if.change(positions=not off))
        self.shuffle.toggled.connect(self._change_seed)
        self.seed.valueChanged.connect(self._change_seed)
        self.again.clicked.connect(self._shuffle_again)
        self.words.swapped.connect(what_if.swap)
        self.reverse.clicked.connect(lambda: what_if.arrange(what_if.order_shown[::-1]))
        self.restore.clicked.connect(lambda: what_if.arrange(sorted(what_if.order_shown)))
        what_if.changed.connect(self._refresh_if_visible)
        session.selectionChanged.connect(self._refresh_if_visible)
        session.traceChanged.connect(self._refresh_if_visible)
        session.statusChanged.connect(self._refresh_if_visible)

    def picture(self) -> Picture:
        return self.canvas

    def _build(self) -> None:
        self.off, self.shuffle = QPushButton("Positions off"), QPushButton("Shuffle words")
        self.off.setCheckable(True)
        self.off.setToolTip("Add nothing to the embeddings, in encoder and decoder")
        self.shuffle.setCheckable(True)
        self.shuffle.setToolTip("The pieces of a word stay together; the end token stays last")
        self.seed = WholeBox(minimum=1, maximum=LAST_SEED, value=1, prefix="seed ")
        self.seed.setAccessibleName("Shuffle seed")
        self.again = QPushButton("Again")
        self.again.setAccessibleName("Shuffle again with the next seed")
        self.reverse, self.restore = QPushButton("Reverse"), QPushButton("Restore order")
        self.reverse.setToolTip("Put the last word first")
        self.words = WordOrder()
        controls = QHBoxLayout()
        controls.setSpacing(2 * GRID)
        for button in (
            *(self.off, self.shuffle, self.seed, self.again),
            *(self.reverse, self.restore),
        ):
            controls.addWidget(button)
        controls.addStretch(1)
        self.head = PlainLabel()
        set_role(self.head, "soft")
        controls.addWidget(self.head)
        texts = QGridLayout()
        texts.setHorizontalSpacing(3 * GRID)
        texts.setVerticalSpacing(GRID)
        texts.setColumnStretch(1, 1)
        self.names, self.sentences, self.translations = [], [], []
        for row in range(2):
            name, sentence, translation = PlainLabel(), label("", wrap=True), label("", wrap=True)
            set_role(name, "soft")
            for place, one in enumerate((name, sentence, translation)):
                texts.addWidget(one, row, place)
            self.names.append(name)
            self.sentences.append(sentence)
            self.translations.append(translation)
        texts.setColumnStretch(2, 1)
        self.statement = label("title", wrap=True)
        self.reading = label("soft")
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * GRID, 0, 4 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addLayout(controls)
        column.addWidget(self.words)
        column.addLayout(texts)
        column.addWidget(self.statement)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.reading)

    # From the session and the desk

    def apply_look(self, theme: Theme, color_map: ColorMap) -> None:
        self._theme, self._color_map = theme, color_map
        self.words.apply_theme(theme)
        self._refresh_if_visible()

    def showEvent(self, event: object) -> None:
        self._what_if.watch(True)
        self._refresh()

    def hideEvent(self, event: object) -> None:
        self._what_if.watch(False)

    def _refresh_if_visible(self, *_changed: object) -> None:
        if self.isVisible():
            self._refresh()

    def _refresh(self) -> None:
        desk, variant = self._what_if, self._what_if.variant
        set_role(self.statement, "error" if desk.problem else "title" if variant else "soft")
        self.statement.setText(self._message())
        self.canvas.setVisible(variant is not None)
        self._show_order()
        for row in range(2):
            for one in (self.names[row], self.sentences[row], self.translations[row]):
                one.setVisible(variant is not None)
        self.head.setVisible(variant is not None)
        if variant is None:
            self._stream.stop()
            self._shown = None
            self._show_maps(())
            return
        self._show_texts(variant)
        head = self._encoder_head(variant.reference)
        self.head.setText(head_name(head))
        if self._shown is None or self._shown[0] is not variant or self._shown[1] != head:
            self._shown = (variant, head)
            if len(variant.order) ** 2 <= INLINE_CELLS:
                self._stream.stop()
                self._show_maps(variant_maps(variant, head))
            else:
                self._stream.start(_maps(variant, head))
        else:
            self._show_maps(self.canvas.maps)

    def _show_order(self) -> None:
        """The words as chips; a shuffle that gives way to a chosen order is switched off."""
        desk, trace = self._what_if, self._session.trace
        own = trace is not None and trace.has_ids
        order = desk.order_shown if own else ()
        if trace is not None:
            words = words_of(trace.source_tokens[:-1])
            tokens = [[trace.source_tokens[at] for at in words[place]] for place in order]
            self.words.set_words([join_pieces(pieces) for pieces in tokens])
        self.words.setVisible(len(order) > 1)
        for button in (self.reverse, self.restore):
            button.setEnabled(len(order) > 1)
        self.restore.setEnabled(desk.wish.order is not None)
        if desk.wish.seed is None and self.shuffle.isChecked():
            self.shuffle.blockSignals(True)
            self.shuffle.setChecked(False)
            self.shuffle.blockSignals(False)

    def _message(self) -> str:
        desk, trace = self._what_if, self._session.trace
        if desk.variant is not None:
            return variant_statement(desk.variant)
        if desk.problem:
            return desk.problem
        if trace is None:
            return self._session.status.message or "Type an English sentence above first."
        if not trace.has_ids:
            return "This trace comes from a file; edit the text to run the model."
        return _HINT if desk.wish.nothing else "Computing…"

    def _encoder_head(self, trace: Trace) -> Head:
        """The selected head, or the encoder's of the same number."""
        kind, selection = AttentionKind.ENCODER_SELF, self._session.selection
        return trace.nearest(Head(kind, selection.layer, selection.head))

    def _show_texts(self, variant: Variant) -> None:
        moved = "shuffled" if self._what_if.wish.words is None else "in another order"
        changes = [moved] * variant.shuffled + ["without positions"] * (not variant.positions)
        reference = "as it is" if variant.positions or not variant.shuffled else "without positions"
        for row, (name, trace) in enumerate(
            ((reference, variant.reference), (", ".join(changes), variant.trace))
        ):
            self.names[row].setText(name.capitalize())
            _show_text(self.sentences[row], trace.text)
            _show_text(self.translations[row], f"→ {isolated(trace.translation)}")

    def _show_maps(self, maps: tuple[TokenMap, ...]) -> None:
        self.canvas.show_maps(maps, lookup_table(self._color_map, self._theme), self._theme)
        self._show_reading()

    def _show_reading(self) -> None:
        if self._shown is None or self.canvas.focus is None:
            self.reading.setText(_READING_HINT if self._shown else "")
            return
        variant, head = self._shown
        query, key = self.canvas.focus
        tokens = variant.reference.source_tokens
        before = float(variant.reference.row(*head, query)[key])
        moved = variant.order.index(query), variant.order.index(key)
        after = float(variant.trace.row(*head, moved[0])[moved[1]])
        self.reading.setText(
            f"{token_name(tokens[query])} → {token_name(tokens[key])}: {before:.4f} and "
            f"{after:.4f}, difference {share(abs(after - before))}"
        )
        announce(self.canvas, self.reading.text())

    # From the user

    def _change_seed(self) -> None:
        seed = self.seed.value() if self.shuffle.isChecked() else None
        self._what_if.change(seed=seed, words=None)

    def _shuffle_again(self) -> None:
        """The next seed; the first press shuffles."""
        if self.shuffle.isChecked():
            self.seed.setValue(self.seed.value() % LAST_SEED + 1)
        self.shuffle.setChecked(True)


def variant_statement(variant: Variant) -> str:
    """What the variant shows, in words."""
    trace, reference = variant.trace, variant.reference
    kind = AttentionKind.ENCODER_SELF
    count = len(reference.every_head(kind))
    heads = "the encoder head" if count == 1 else f"all {count} encoder heads"
    number = share(variant.difference)
    same = trace.translation == reference.translation
    if variant.shuffled and not variant.positions:
        if variant.difference > ROUNDING:
            return (
                f"Put back in order, the weights still differ by up to {number}: more than "
                "rounding."
            )
        one_translation = " So both orders get the same translation." if same else ""
        return (
            "The same weights, only permuted: put back in order, the largest difference over "
            f"{heads} is {number}.{one_translation}"
        )
    if variant.shuffled:
        return (
            "With positions, word order matters: put back in order, the largest difference over "
            f"{heads} is {number}."
        )
    return f"Without positions, the largest difference over {heads} is {number}."


def _show_text(one: QLabel, text: str) -> None:
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
    one.setText(_LONG_WORD.sub(_breakable, shown))
    one.setToolTip(plain_tooltip(text) if len(text) > _LONGEST else "")


def _breakable(word: re.Match[str]) -> str:
    return _SYLLABLE.sub(rf"\g<0>{_BREAK}", word[0])


def _maps(variant: Variant, head: Head) -> Iterator[tuple[TokenMap, ...]]:
    yield variant_maps(variant, head)
