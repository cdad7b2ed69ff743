"""Decoding by hand: the hypotheses beside each other, and the beam search as a tree."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from core.decoding.beam_tree import BeamTree
from core.trace.trace import Trace
from transformer_viz.decoding.step_clock import StepClock
from transformer_viz.engine.backend import Backend
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.worker import Context
from transformer_viz.state.hypotheses import Candidate, Hypothesis
from transformer_viz.state.session import ModelInfo, Phase, Search, Session, Status
from transformer_viz.state.settings import Settings
from transformer_viz.state.walk import Walk

T = TypeVar("T")

LANE, TREE_LANE = "decode", "tree"

FROM_A_FILE = (
    "This trace comes from a file, so there are no other candidates; edit the text to translate "
    "it again."
)
ANOTHER_MODEL = "Another model was opened; its translation will appear shortly."
NO_MODEL = "There is no model to decode with; open a checkpoint."


class Decoding(QObject):
    """The hypotheses of the session's sentence; the one chosen is the session's trace, so that
    every view shows its own attention. Another sentence, model or search begins a new list.

    Attributes:
        walk: the current step.
        hypotheses: in the order in which they came; the first is the model's own translation.
        tree: the beam search of the sentence; None until it was grown.
        growing: whether the tree is being searched for.
        asking: what else is being computed, in words; "" while nothing is.
        problem: why the last wish was not fulfilled, in one sentence.
    """

    hypothesesChanged = Signal()  # the list, or which one is shown
    candidatesChanged = Signal()
    treeChanged = Signal()
    stateChanged = Signal()  # growing, asking or problem

    def __init__(
        self,
        session: Session,
        engine: Engine,
        settings: Callable[[], Settings],
        parent: QObject | None = None,
    ) -> None:
        """Follow the session; the search is read from `settings` as they are at the moment."""
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._settings = settings
        self._model: ModelInfo | None = None  # that made the hypotheses
        self._numbered = 0
        self._candidates: dict[int, tuple[tuple[Candidate, ...], ...]] = {}  # by number
        self._unnamed: int | None = None  # the number of which no candidates could be had
        self._watched = False
        self.hypotheses: tuple[Hypothesis, ...] = ()
        self.tree: BeamTree | None = None
        self.growing = False
        self.asking = ""
        self.problem = ""
        self.clock = StepClock(session, engine, self)
        session.traceChanged.connect(self._on_trace)
        session.sentenceChanged.connect(self._cancel)
        session.modelChanged.connect(self._cancel)
        for changed in (session.gatesChanged, session.switchesChanged):
            changed.connect(self._cancel)
        session.statusChanged.connect(self._on_status)
        self._begin(session.trace)
        self.walk = Walk(session, self)  # after the list: the steps are those of the active one

    @property
    def active(self) -> Hypothesis | None:
        """The hypothesis that the session shows."""
        return next((one for one in self.hypotheses if one.trace is self._session.trace), None)

    @property
    def candidates(self) -> tuple[tuple[Candidate, ...], ...] | None:
        """The candidates at each step of the active hypothesis, best first; None while they are
        unknown."""
        active = self.active
        return None if active is None else self._candidates.get(active.number)

    @property
    def search(self) -> Search:
        """The beam search that is set, even while greedy search is in use."""
        settings = self._settings()
        return Search(settings.beam_size, settings.alpha, settings.penalty)

    @property
    def penalty(self) -> str:
        """The form of the length penalty: what is set, else that of the model that made the
        hypotheses."""
        return self.search.form(self._model)

    @property
    def is_greedy(self) -> bool:
        return self._settings().beam == 1

    @property
    def obstacle(self) -> str:
        """The reason why the model cannot be asked about the trace shown, in one sentence; "" if it
        can."""
        active = self.active
        if self._session.model is None:
            return NO_MODEL
        if active is not None and not active.has_ids:
            return FROM_A_FILE
        return "" if self._session.model is self._model else ANOTHER_MODEL

    def watch(self, watched: bool) -> None:
        """Say whether somebody looks: only then are candidates computed."""
        self._watched = watched
        self._name_candidates()

    # Which hypothesis is shown

    def activate(self, number: int) -> None:
        """Show another hypothesis, at the same step where it has one."""
        chosen = self._numbered_one(number)
        if chosen is not None and chosen is not self.active:
            self._forget_wish()
            self._show(chosen, self.walk.step)

    def close(self, number: int) -> None:
        """Drop a hypothesis; the model's own translation stays."""
        closed = self._numbered_one(number)
        if closed is None or closed is self.hypotheses[0]:
            return
        if closed is self.active:
            self.activate(self.hypotheses[self.hypotheses.index(closed) - 1].number)
        self.hypotheses = tuple(one for one in self.hypotheses if one is not closed)
        self.hypothesesChanged.emit()

    # Wishes

    def take(self, step: int, candidate: Candidate) -> None:
        """Go on with this token at this step: a branch, unless it is what was taken before."""
        active = self.active
        if active is None:
            return
        if active.ids[step] != candidate.token.id:
            origin = f"branch of {active.number} at step {step + 1}"
            self._branch(step, (candidate.token.id,), "", origin)
        elif step + 1 < len(active.ids):
            self.walk.go_to(step + 1)
        else:
            self.go_on()

    def type_token(self, step: int, text: str) -> None:
        """Put these characters in place of the token at this step, and go on from there.

        They start a word where a space comes first.
        """
        active = self.active
        if active is not None and text.strip():
            origin = f"typed into {active.number} at step {step + 1}"
            self._branch(step, (), text, origin)

    def go_on(self) -> None:
        """Decode on from the end of a hypothesis that has none yet."""
        active = self.active
        if active is not None and not active.is_finished:
            self._branch(len(active.ids), (), "", f"{active.number} continued")

    def score_target(self, text: str, origin: str = "your own translation") -> None:
        """Score a translation by teacher forcing, and show the attention of that pass."""
        source, search = self._session.trace, self.search
        if source is None or not text.strip():
            return
        self._ask(
            "Scoring…",
            lambda backend, context: backend.explain(source.text, search, context, text.strip()),
            lambda trace: self._add(
                trace,
                origin,
                step=self.walk.step,
                given=len(trace.predicted_tokens),
            ),
        )

    def grow_tree(self) -> None:
        """Search with the beam that is set, and keep all that the search looks at."""
        trace, search = self._session.trace, self.search
        if trace is None or self.tree is not None or self.growing or self._refused():
            return
        self._set_growing(True)
        self._engine.ask(
            TREE_LANE,
            lambda backend, context: backend.beam_tree(trace.text, search, context),
            done=self._show_tree,
            failed=self._show_no_tree,
        )

    def show_node(self, index: int) -> None:
        """Show the hypothesis of a node of the tree."""
        trace = self._session.trace
        if self.tree is None or trace is None:
            return
        ids, step = self.tree.ids(index), self.tree.nodes[index].step
        known = self._with_ids(ids)
        if known is not None:
            self._forget_wish()
            self._show(known, step)
            return
        self._ask(
            "Recording…",
            lambda backend, context: backend.hypothesis(trace.text, ids, context),
            lambda trace: self._add(
                trace, f"beam search, step {step + 1}", step=step, from_tree=True
            ),
        )

    def _branch(self, step: int, tokens: Sequence[int], typed: str, origin: str) -> None:
        active = self.active
        assert active is not None
        prefix, text = (*active.ids[:step], *tokens), active.trace.text
        self._ask(
            "Decoding…",
            lambda backend, context: backend.branch(text, prefix, typed, context),
            lambda branch: self._add(branch[0], origin, step=step, given=branch[1]),
        )

    # Answers

    def _add(
        self, trace: Trace, origin: str, *, step: int, given: int = 0, from_tree: bool = False
    ) -> None:
        """Keep a hypothesis beside the others, unless it is there already, and show it."""
        self._set_state()
        made = Hypothesis(self._numbered + 1, origin, trace, given, from_tree)
        known = self._with_ids(made.ids)
        if known is None:
            self._numbered += 1
            kept = [one for one in self.hypotheses if not (from_tree and one.from_tree)]
            self.hypotheses = (*kept, made)
        self._show(known or made, step)

    def _show(self, chosen: Hypothesis, step: int) -> None:
        if chosen is self.active:
            self.hypothesesChanged.emit()
        else:
            self._session.set_trace(chosen.trace)
        self.walk.go_to(step)

    def _show_tree(self, tree: BeamTree) -> None:
        self.tree = tree
        self._set_growing(False)
        self.treeChanged.emit()

    def _show_no_tree(self, problem: str) -> None:
        self._set_growing(False)
        self._set_state(problem=problem)

    def _fail(self, problem: str) -> None:
        self._set_state(problem=problem)
        self._name_candidates()

    # From the session

    def _on_trace(self, trace: Trace | None) -> None:
        if self.active is None:
            self._begin(trace)
        self.hypothesesChanged.emit()
        self._name_candidates()

    def _begin(self, trace: Trace | None) -> None:
        self._cancel()
        self._model = self._session.model
        self._candidates = {}
        self._unnamed = None
        self._numbered = 0 if trace is None else 1
        self.hypotheses = ()
        if trace is not None:
            search = "greedy" if self.is_greedy else f"beam {self.search.beam}"
            own = Hypothesis(1, search, trace)
            self.hypotheses = (own if own.has_ids else replace(own, origin="from a file"),)
        self.tree = None
        self.treeChanged.emit()

    def _cancel(self) -> None:
        """What was asked belongs to a text, a model or gates that are on their way out."""
        self._engine.cancel(LANE)
        self._engine.cancel(TREE_LANE)
        self._set_growing(False)
        self._set_state()

    def _on_status(self, status: Status) -> None:
        if status.phase in (Phase.READY, Phase.FAILED):
            self._name_candidates()

    # To the engine

    def _name_candidates(self) -> None:
        """Ask for the candidates of the hypothesis shown, if they are not there yet."""
        active = self.active
        if not self._watched or self.asking or active is None or self.obstacle:
            return
        if active.number in self._candidates or active.number == self._unnamed:
            return

        def done(candidates: tuple[tuple[Candidate, ...], ...]) -> None:
            self._candidates[active.number] = candidates
            self.candidatesChanged.emit()

        def failed(problem: str) -> None:
            self._unnamed = active.number
            self._set_state(problem=problem)

        self._engine.ask(
            LANE,
            lambda backend, context: backend.candidates(active.trace.text, active.ids, context),
            done=done,
            failed=failed,
        )

    def _ask(
        self, asking: str, question: Callable[[Backend, Context], T], done: Callable[[T], None]
    ) -> None:
        if not self._refused():
            self._set_state(asking)
            self._engine.ask(LANE, question, done=done, failed=self._fail)

    def _refused(self) -> bool:
        if self.obstacle:
            self._set_state(problem=self.obstacle)
        return bool(self.obstacle)

    def _forget_wish(self) -> None:
        self._engine.cancel(LANE)
        self._set_state()

    def _set_state(self, asking: str = "", problem: str = "") -> None:
        if (asking, problem) != (self.asking, self.problem):
            self.asking, self.problem = asking, problem
            self.stateChanged.emit()

    def _set_growing(self, growing: bool) -> None:
        if growing != self.growing:
            self.growing = growing
            self.stateChanged.emit()

    def _numbered_one(self, number: int) -> Hypothesis | None:
        return next((one for one in self.hypotheses if one.number == number), None)

    def _with_ids(self, ids: Sequence[int]) -> Hypothesis | None:
        return next((one for one in self.hypotheses if one.ids == tuple(ids)), None)
