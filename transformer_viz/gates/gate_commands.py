"""Gating heads in the window: the commands, the measuring, and pruning to a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMessageBox

from core.counted import counted
from core.files import is_same
from core.heads import EVEN
from core.switches import INTACT
from core.text.tokens import Token
from transformer_viz.engine.child import Child
from transformer_viz.gates.gate_bar import GateBar
from transformer_viz.gates.gate_effect import GateEffect, Sample
from transformer_viz.gates.gating import Gating
from transformer_viz.gates.switch_commands import add_switches
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.gates import ALL_ON, STRONGEST, alone, evened, scaled, silenced, switched
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import Actions
from transformer_viz.widgets.gate_controls import STEP
from transformer_viz.widgets.host import Host
from transformer_viz.widgets.question_box import QuestionBox

ALL_HEADS_ON = "All heads o&n"
RESTORE = "Restore the &model"
MODELS = "Models (*.safetensors)"
PAIRS = "Sentence pairs (*.tsv *.tmx *.gz *.bz2 *.xz *.zip);;All files (*)"
SAME_FILE = "This is the file of the open model; choose another name for the pruned model."
_KEPT = (
    "The new model does not contain the heads that are off and translates exactly as the open "
    "model does without them."
)


class GateCommands(QObject):
    def __init__(
        self, host: Host, session: Session, explorer: Explorer, gating: Gating, effect: GateEffect
    ) -> None:
        super().__init__(host)
        self._host = host
        self._session = session
        self._explorer = explorer
        self._gating = gating
        self._effect = effect
        self._pruned: Path | None = None  # being written
        self._said = ""  # by the process that writes it
        self._child = Child(self)
        self._child.progressed.connect(self._on_said)
        self._child.finished.connect(self._on_pruned)
        self._child.failed.connect(host.show_notice)

    def add_to(self, actions: Actions) -> None:
        menu = self._menu = actions.menu("Hea&d", "Switch o&ff")
        session, effect = self._session, self._effect
        heads = [
            actions.add("gate_off", menu, "&Toggle heads", self._switch, "Ctrl+M"),
            actions.add("gate_even", menu, "&Average evenly", self._even, "Ctrl+Shift+E"),
            actions.add("gate_alone", menu, "&Isolate in layer", self._leave_alone, "Ctrl+Shift+M"),
            actions.add("gate_down", menu, "&Decrease factor", partial(self._add, -STEP), "Ctrl+,"),
            actions.add("gate_up", menu, "&Increase factor", partial(self._add, STEP), "Ctrl+."),
        ]
        menu.addSeparator()
        heads.append(actions.add("gates_even", menu, "All heads e&ven", self._all_even))
        restore = actions.add("gates_open", menu, ALL_HEADS_ON, self._restore, "Ctrl+Shift+A")
        menu.addSeparator()
        measure = actions.add("gates_effect", menu, "&Effect", self._measure)
        on_file = actions.add("gates_effect_file", menu, "Effect on a &file…", self.ask_for_pairs)
        prune = actions.add("prune", menu, "&Prune to a file…", self.ask_to_prune)

        add_switches(actions, actions.menu("Hea&d", "A&blate the model"), session)

        def enable() -> None:
            trace, gates = session.trace, session.gates
            _enable(heads, trace is not None and trace.has_ids)
            restore.setEnabled(not session.is_intact)
            restore.setText(ALL_HEADS_ON if session.switches.intact else RESTORE)
            gated = bool(gates) and session.switches.intact
            on_file.setEnabled(gated)
            measure.setEnabled(gated and not effect.running and not effect.complete)
            following = effect.next_sample.sentences
            more = counted(following, "sentence") if effect.has_sentences else "pairs…"
            measure.setText(f"&Effect on {more}")
            prune.setEnabled(gated and bool(silenced(gates)) and session.model is not None)

        for changed in (
            *(session.traceChanged, session.modelChanged),
            *(session.gatesChanged, session.switchesChanged),
        ):
            changed.connect(enable)
        effect.changed.connect(enable)
        enable()

    def bar(self, actions: Actions) -> GateBar:
        shown = (actions["gates_effect"], actions["prune"], actions["gates_open"])
        return GateBar(self._session, self._gating, self._effect, shown)

    def pop_up(self, place: QPoint) -> None:
        self._menu.popup(place)

    @property
    def marks(self) -> Mapping[int, Token | None]:
        """The steps of the translation that the gates changed, each with the token that was there
        before; none where the translation is not the model's own with these gates."""
        change = self._gating.change
        if change is None or change.after is not self._session.trace:
            return {}
        return change.steps

    def close(self) -> None:
        """A file that is being written is given up; none is left half written."""
        self._child.cancel()

    # On the selected heads

    def _switch(self) -> None:
        session = self._session
        session.set_gates(switched(session.gates, session.selection.heads))

    def _even(self) -> None:
        session = self._session
        session.set_gates(evened(session.gates, session.selection.heads))

    def _all_even(self) -> None:
        trace = self._session.trace
        assert trace is not None, "the command is disabled without a trace"
        every = [head for kind in trace.kinds for head in trace.every_head(kind)]
        self._session.set_gates(dict.fromkeys(every, EVEN))

    def _restore(self) -> None:
        """Take back gates and switches in one act."""
        self._session.set_switches(INTACT)
        self._session.set_gates(ALL_ON)

    def _leave_alone(self) -> None:
        session = self._session
        assert session.trace is not None, "the command is disabled without a trace"
        session.set_gates(alone(session.gates, session.selection.heads, session.trace))

    def _add(self, step: float) -> None:
        """To the factor of each head, from 0 to the largest; an even head starts from 1."""
        session = self._session
        gates = session.gates
        for head in session.selection.heads:
            before = gates.get(head, 1.0)
            factor = round((1.0 if before == EVEN else before) + step, 2)
            gates = scaled(gates, [head], min(max(factor, 0.0), STRONGEST))
        session.set_gates(gates)

    # The effect on a sample

    def _measure(self) -> None:
        effect = self._effect
        if effect.has_sentences:
            effect.measure(effect.next_sample)
        else:
            self.ask_for_pairs()

    def ask_for_pairs(self) -> None:
        """Ask for a file of pairs, and measure on them."""
        title = "Choose one table of pairs, or two aligned files: source, then target"
        names, _filter = QFileDialog.getOpenFileNames(self._host, title, "", PAIRS)
        if names:
            self._effect.measure(Sample(",".join(names[:2])))

    # Pruning

    def ask_to_prune(self) -> None:
        model = self._session.model
        assert model is not None, "the command is disabled without a model"
        start = Path.home() / f"{model.name}-pruned.safetensors"
        name, _filter = QFileDialog.getSaveFileName(
            self._host, "Save a model without the heads that are off", str(start), MODELS
        )
        if name:
            path = Path(name)
            self.prune(path if path.suffix else path.with_name(f"{path.name}{start.suffix}"))

    def prune(self, path: Path) -> None:
        """Write the model without the heads that are off."""
        model = self._session.model
        assert model is not None, "the command is disabled without a model"
        if is_same(path, model.path):
            self._host.show_notice(SAME_FILE)
            return
        heads = [f"--head={head.code}" for head in silenced(self._session.gates)]
        self._pruned, self._said = path, ""
        self._child.run(["prune", "--model", str(model.path), *heads, "-o", str(path)])
        self._host.say(f"Pruning {counted(len(heads), 'head')}…")

    def _on_said(self, line: str) -> None:
        self._said = line

    def _on_pruned(self, _answer: object) -> None:
        path = self._pruned
        assert path is not None
        box = QuestionBox(
            "Transformer Viz",
            f"{path.name} has been saved. Open it?",
            f"{self._said.removeprefix(f'{path}: ').capitalize()}. {_KEPT}",
            self._host,
        )
        box.addButton("&Open", QMessageBox.ButtonRole.AcceptRole)
        box.addButton("&Keep the current model", QMessageBox.ButtonRole.RejectRole)
        box.accepted.connect(lambda: self._explorer.open(path))
        box.open()


def _enable(actions: list[QAction], enabled: bool) -> None:
    for action in actions:
        action.setEnabled(enabled)
