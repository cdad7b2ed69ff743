"""The bottom line says what is selected, in the words of the heatmap's own labels."""

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from core.trace.trace import AttentionKind
from transformer_viz.shell.status_line import StatusLine
from transformer_viz.state.options import Combine
from transformer_viz.state.session import Phase, Session, Status


@pytest.fixture
def said(session: Session, show: Callable[..., QWidget]) -> Callable[[], str]:
    line = show(StatusLine(session), 900, 40)

    def said() -> str:
        labels = {label.accessibleName(): label.text() for label in line.findChildren(QLabel)}
        return labels["Selection"]

    return said


def test_a_decoder_row_is_named_by_its_query_and_what_it_predicts(
    session: Session, said: Callable[[], str]
) -> None:
    session.select(kind=AttentionKind.CROSS, layer=0, head=1, query=1)
    assert said() == "Cross · layer 1 · head 2 · Das (2, predicts Tier)"
    session.set_hover(6, 4)
    assert said().startswith("Cross · layer 1 · head 2 · weil (7, predicts es) → it (5): weight 0.")


def test_an_encoder_row_predicts_nothing(session: Session, said: Callable[[], str]) -> None:
    session.select(kind=AttentionKind.ENCODER_SELF, layer=0, head=0, query=4)
    assert said() == "Encoder self · layer 1 · head 1 · it (5)"


def test_several_heads_are_named_as_they_are_shown(
    session: Session, said: Callable[[], str]
) -> None:
    session.select(kind=AttentionKind.ENCODER_SELF, layer=1, head=0, others=((0, 0), (0, 2)))
    assert said() == "Encoder self · mean of 3 heads: 1.1, 1.3, 2.1"
    session.change_options(combine=Combine.SIDE_BY_SIDE)
    assert said() == "Encoder self · 3 heads: 1.1, 1.3, 2.1; current: 2.1"


def test_merged_words_are_named_and_weighed_as_the_map_draws_them(
    session: Session, said: Callable[[], str]
) -> None:
    session.change_options(merge_words=True)
    session.select(kind=AttentionKind.DECODER_SELF, layer=0, head=0, query=4, key=2)  # lief, Tier
    assert session.trace is not None
    weight = session.trace.weights(AttentionKind.DECODER_SELF, 0, 0)[3:5, 2].mean()
    assert said().endswith(f"schlief (4–5, predicts ,) → Tier (3): weight {weight:.4f}")
    session.select(query=2, key=3)  # Tier, sch
    assert said().endswith("Tier (3, predicts sch) → schlief (4–5): masked")


def test_a_long_sentence_does_not_widen_the_window(session: Session, qtbot: QtBot) -> None:
    line = StatusLine(session)
    qtbot.addWidget(line)
    session.set_status(Status(Phase.FAILED, "Short."))
    width = line.minimumSizeHint().width()
    session.set_status(Status(Phase.FAILED, "x" * 1_000))
    assert line.minimumSizeHint().width() == width
