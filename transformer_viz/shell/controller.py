"""What happens when: between the user's wishes, the engine and the session. No widget in here."""

import time
from dataclasses import asdict, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from core.bundled import bundled_models, measured_distances, measured_heads, model_path
from core.checkpoints.provenance import left_out_note
from core.files import is_there, shown_path
from core.switches import INTACT, Switches
from core.trace.trace import Trace
from transformer_viz.compare.comparison import Comparison
from transformer_viz.decoding.hypotheses_desk import Decoding
from transformer_viz.engine.engine import Engine, Explanation
from transformer_viz.engine.quantities import Quantities
from transformer_viz.engine.recorded_states import RecordedStates
from transformer_viz.engine.transfers import Transfers
from transformer_viz.gates.gate_effect import GateEffect
from transformer_viz.gates.gating import Gating
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.mattering import Mattering
from transformer_viz.heads.resolving import Resolving
from transformer_viz.layers.layer_costs import LayerCosts
from transformer_viz.positions.what_if import WhatIf
from transformer_viz.reach.distance_probe import DistanceProbe
from transformer_viz.reach.stretching import Stretching
from transformer_viz.shell.model_habits import ModelHabits
from transformer_viz.state.explorer import Explorer
from transformer_viz.state.gates import ALL_ON, Gates, restored_gates, saved_gates
from transformer_viz.state.highlights import opening_selection
from transformer_viz.state.languages import asking_for
from transformer_viz.state.selection import Selection
from transformer_viz.state.session import MAX_CHARACTERS, ModelInfo, Phase, Search, Session, Status
from transformer_viz.state.settings import Settings, SettingsFile
from transformer_viz.stream.readouts import Readouts
from transformer_viz.translation.doubts import TranslationDoubts
from transformer_viz.translation.sentences import Sentences
from transformer_viz.words.gate_wording import describe_changes

PATIENCE = 2.0  # seconds that closing waits for what the threads are doing
TYPING_PAUSE = 0  # ms: once the keystroke is painted, as a newer question stops the one that runs
STALE_AFTER = 150  # ms without an answer before the picture is shown as stale
SAVE_AFTER = 1_000  # ms without a change before the settings are written


class Controller(Explorer):
    """Turns typed text and opened files into requests, and answers into session state.

    The last good model and trace stay until better ones have arrived.
    """

    settingsChanged = Signal(object)  # Settings

    def __init__(
        self,
        session: Session,
        engine: Engine,
        settings: Settings,
        file: SettingsFile,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._engine = engine
        self._settings = settings
        self._file = file
        self._opening = True  # the next trace opens on the head worth showing
        self._wanted: Selection | None = None  # what to select in the trace of the text
        self._trace_file: Path | None = None  # that the trace shown is from, without the model
        self._about_trace = ""
        self._fallback: Path | None = None  # opened where the first model fails
        self._passing: Path | None = None  # on its way, see `open`
        self._loading = False
        self._gates = ALL_ON  # of the model on its way
        self._saved_search: Search | None = None  # for it
        self._habits = ModelHabits()
        self.hangs = False
        self.transfers = Transfers(self)
        self.decoding = Decoding(session, engine, lambda: self._settings, self)
        self.comparison = Comparison(session, engine, self)
        self.comparison.set_search(self.search)
        self.sentences = Sentences(session, engine, lambda: self._settings, self)
        self.stretching = Stretching(
            session, engine, self._translate_here, lambda: self._trace_file is not None, self
        )
        self.closing.connect(self.stretching.close)
        self.distance = DistanceProbe(
            session, file.folder and file.folder / "distance", self, bundled=measured_distances()
        )
        self.layer_costs = LayerCosts(file.folder and file.folder / "layers.json", self)
        self.what_if = WhatIf(session, engine, lambda: self.search, self)
        self.quantities = Quantities(session, engine.ask, engine.cancel, self)
        self.states = RecordedStates(session, engine, self)
        self.readouts = Readouts(engine, self.states, self)
        self.doubts = TranslationDoubts(session, engine, self)
        self.heads = HeadAnalysis(
            session, file.folder and file.folder / "heads", self, bundled=measured_heads()
        )
        self.resolving = Resolving(session, engine, self)
        self.mattering = Mattering(session, engine, lambda: self.search, self)
        self.gating = Gating(session, engine, lambda: self.search, self)
        self.effect = GateEffect(session, file.folder and file.folder / "effects", self)
        self.effect.set_search(self.search)

        self._ask = self._timer(TYPING_PAUSE, self._explain)
        self._stale = self._timer(STALE_AFTER, self._show_stale)
        self._save = self._timer(SAVE_AFTER, self.save)

        engine.progressed.connect(self._on_progress)
        engine.loaded.connect(self._on_loaded)
        engine.loadFailed.connect(self._on_load_failed)
        engine.explained.connect(self._on_explained)
        engine.explainFailed.connect(self._on_explain_failed)
        self.transfers.failed.connect(self.noticed.emit)
        self.comparison.modelWanted.connect(self.open)
        session.gatesChanged.connect(self._on_altered)
        session.switchesChanged.connect(self._on_altered)

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def search(self) -> Search:
        return Search(self._settings.beam, self._settings.alpha, self._settings.penalty)

    @property
    def loading(self) -> bool:
        """Whether a model is on its way."""
        return self._loading

    @property
    def running(self) -> list[str]:
        """What closing would end before it is done, each in one sentence."""
        saving, measuring, probing = (
            self.transfers.saving,
            self.heads.running,
            self.distance.running,
        )
        said = [f"{saving} is being saved."] if saving else []
        said += [f"The heads of {measuring.stem} are being measured."] if measuring else []
        said += [f"How far {probing.stem} reaches is being measured."] if probing else []
        return said + ["The kinds of layers are being measured."] * self.layer_costs.running

    def give_up(self) -> None:
        """End all that `running` names."""
        self.transfers.cancel()
        self.heads.cancel()
        self.distance.cancel()
        self.layer_costs.cancel()

    def open(
        self,
        path: Path,
        *,
        passing: bool = False,
        gates: Gates = ALL_ON,
        search: Search | None = None,
    ) -> None:
        self._passing = path if passing else None
        self._gates, self._saved_search = gates, search
        self._loading = True
        self._engine.load(path)

    def open_first(self, path: Path | None = None) -> None:
        """Open this checkpoint, else the one shown last, else the bundled one."""
        remembered = model_path(self._settings.model) if self._settings.model else None
        bundled = bundled_models()
        if path is None and remembered is not None and not is_there(remembered):
            name = shown_path(remembered)
            self.noticed.emit(f"{name} was not found; the bundled model is shown instead.")
            remembered = None
        chosen = path or remembered or (bundled[0] if bundled else None)
        if chosen is None:
            self._settle(Phase.FAILED, "There is no bundled model; open a checkpoint (Ctrl+O).")
        else:
            self._fallback = next((model for model in bundled if model != chosen), None)
            as_before = chosen == remembered
            self.open(chosen, gates=restored_gates(self._settings.gates) if as_before else ALL_ON)

    def translate(
        self, text: str, selection: Selection | None = None, *, at: int = 0, whole: bool = False
    ) -> None:
        self._wanted = selection
        self._trace_file = None
        self._session.set_origin("")
        if whole:
            self.sentences.whole_text = text
        passage = self.sentences.split(text)
        self._session.set_passage(passage, passage.at(at))
        if not text.strip():
            self._engine.cancel_explain()
            self._stop_waiting()
            self._session.set_trace(None)
            if self._session.model is not None:
                self._settle(Phase.EMPTY)
        elif len(text) > MAX_CHARACTERS:
            self._engine.cancel_explain()
            self._stop_waiting()
            self._settle(
                Phase.FAILED,
                f"This text has {len(text):,} characters and the limit is {MAX_CHARACTERS:,}; "
                "shorten it.",
            )
        else:
            self._request()

    def choose_sentence(self, index: int) -> None:
        """Show another sentence of the text."""
        session = self._session
        if index != session.index and 0 <= index < len(session.passage.spans):
            self.translate(session.text, at=session.passage.spans[index].start)

    def replace_sentence(self, text: str) -> None:
        """Put another sentence in place of the one shown."""
        session = self._session
        self._translate_here(session.passage.with_sentence(session.index, text))

    def set_keep_whole(self, keep: bool) -> None:
        """Translate texts of several sentences as one, or sentence by sentence."""
        if keep != self._settings.keep_whole:
            self.sentences.whole_text = ""
            self.change_settings(keep_whole=keep)
            self._answer_again()

    def _translate_here(self, text: str, selection: Selection | None = None) -> None:
        """Show another text, and the sentence at the same place."""
        self.translate(text, selection, at=self._session.sentence_start)

    def show(
        self,
        text: str,
        selection: Selection,
        gates: Gates,
        switches: Switches = INTACT,
        *,
        at: int = 0,
    ) -> None:
        """Go back to a text, the sentence of it that was shown, what was selected in it, the gates
        and the switches: at once, where its trace is shown."""
        session = self._session
        session.set_gates(gates)
        session.set_switches(switches)
        answered = session.is_answered and not self._ask.isActive()
        if text == session.text and session.passage.at(at) == session.index and answered:
            session.select(**asdict(selection))
        else:
            self.translate(text, selection, at=at)

    @property
    def trace_file(self) -> Path | None:
        return self._trace_file

    def show_trace(
        self, trace: Trace, path: Path, selection: Selection | None = None, about: str = ""
    ) -> None:
        self._engine.cancel_explain()
        self._stop_waiting()
        self._wanted = None
        self._trace_file = path
        changed = describe_changes(trace.gates, trace.switches, trace)
        file = ", ".join(filter(None, (f"trace from {path.name}", changed)))
        self._about_trace = about or file
        self._session.set_origin(self._about_trace)
        self._session.set_text(trace.text)
        self._session.set_trace(trace, selection)
        self._settle(Phase.READY, self._about_trace)

    def set_search(self, search: Search) -> None:
        if search != self.search:
            self._set_search(search)
            self._translate_here(self._session.text, self._wanted)

    def choose_language(self, token: str) -> None:
        """Ask for another target language, by one of the model's tokens."""
        self._habits.language = token
        session = self._session
        text = asking_for(token, session.text)
        self.translate(text, at=self.sentences.split(text).start(session.index))

    def in_language(self, text: str) -> str:
        """A sentence from elsewhere, asking for the language that is asked for now."""
        return self._habits.sentence(text, self._session.text, self._session.model)

    def remember_text(self) -> None:
        """Put the text of the session into the history."""
        remembered = self._settings.remember_text(self._session.text)
        self.change_settings(history=remembered.history)

    def change_settings(self, **changes: object) -> None:
        settings = replace(self._settings, **changes)  # type: ignore[arg-type]
        if settings != self._settings:
            self._settings = settings
            self._save.start()
            self.settingsChanged.emit(settings)

    def save(self) -> None:
        """Write the settings, with the text as it is now: typing alone writes nothing."""
        self._save.stop()
        session = self._session
        now = replace(
            self._settings,
            text=session.text[:MAX_CHARACTERS],
            sentence_start=session.sentence_start,
            trace=str(self._trace_file or ""),
            selection=self._wanted or session.selection,
            gates=self._settings.gates if session.model is None else saved_gates(session.gates),
            options=session.options,
            second_text=self.comparison.text,
            second_model=str(self.comparison.path or ""),
        )
        notice = self._file.save(now)
        if notice is not None:
            self.noticed.emit(notice)

    def close(self) -> None:
        """Save the settings and end the threads; `hangs` where one doesn't end in `PATIENCE`."""
        self.closing.emit()
        for timer in (self._ask, self._stale):
            timer.stop()
        self.save()
        self.heads.cancel()
        self.distance.cancel()
        self.layer_costs.cancel()
        self.effect.cancel()
        end = time.monotonic() + PATIENCE
        for part in (self.transfers, self._engine):
            self.hangs |= not part.close(max(0.0, end - time.monotonic()))

    def _set_search(self, search: Search) -> None:
        changes = {"beam": search.beam, "alpha": search.alpha, "penalty": search.penalty}
        if search.beam > 1:
            changes["beam_size"] = search.beam
        self.change_settings(**changes)
        self.comparison.set_search(search)
        self.effect.set_search(search)

    def _timer(self, milliseconds: int, slot: object) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=milliseconds)
        timer.timeout.connect(slot)
        return timer

    def _request(self) -> None:
        self._ask.start()
        if not self._stale.isActive() and self._session.status.phase is not Phase.BUSY:
            self._stale.start()

    def _stop_waiting(self) -> None:
        self._ask.stop()
        self._stale.stop()

    def _explain(self) -> None:
        """Ask the engine, unless no model is there yet: loading one asks again."""
        if self._session.model is None:
            return
        known = self.sentences.trace()
        if known is None:
            self._engine.explain(self._session.sentence, self.search)
        else:
            self._engine.cancel_explain()
            self._show_answer(known)

    def _show_stale(self) -> None:
        if self._session.model is not None:
            self._set_status(Phase.BUSY, "Translating…")

    def _set_status(
        self, phase: Phase, message: str = "", milliseconds: float | None = None
    ) -> None:
        self._session.set_status(Status(phase, message, milliseconds))

    def _settle(self, phase: Phase, message: str = "", milliseconds: float | None = None) -> None:
        self._set_status(phase, message, milliseconds)
        self.settled.emit(self._session.status)

    def _on_progress(self, message: str) -> None:
        phase = Phase.LOADING if self._session.model is None else Phase.BUSY
        self._set_status(phase, message)

    def _on_loaded(self, model: ModelInfo) -> None:
        self._loading = False
        passing, self._passing = model.path == self._passing, None
        self._opening = self._opening or not passing
        session = self._session
        if not passing:
            self._take_search(model)
            self._remember_model(model.path)
            if model.left_out:
                self.noticed.emit(left_out_note(model.path.name, model.left_out))
        if self._trace_file is None:
            text = self._habits.text(session.text, model, session.model)
            session.set_passage(self.sentences.split(text, model), session.index)
        if passing:
            session.set_model(model, session.gates, session.switches)
        else:
            session.set_model(model, self._gates)
        self._answer_again()

    def _take_search(self, model: ModelInfo) -> None:
        """Of the model opened last before this start, the one that is remembered stays."""
        wanted, self._saved_search = self._saved_search, None
        if _remembered(model.path) != self._settings.model:
            brought = self._habits.search(model, self.search)
            self._set_search(wanted or brought)

    def _remember_model(self, path: Path) -> None:
        self.change_settings(model=_remembered(path))
        if path not in bundled_models():
            remembered = self._settings.remember_file(str(path))
            self.change_settings(recent_files=remembered.recent_files)

    def _on_altered(self) -> None:
        """Translate again; an answer of the model before is not waited for."""
        self._engine.set_gates(self._session.gates)
        self._engine.set_switches(self._session.switches)
        self._engine.cancel_explain()
        if self._trace_file is None:
            self._translate_here(self._session.text, self._wanted)

    def _on_load_failed(self, message: str) -> None:
        self._loading = False
        fallback, self._fallback = self._fallback, None
        passing, self._passing = self._passing, None
        if self._session.model is not None:
            if passing is None:
                self.openFailed.emit(message)
            self._answer_again()
        elif fallback is not None:
            self.noticed.emit(f"{message} The bundled model is shown instead.")
            self.open(fallback)
        else:
            self._settle(Phase.FAILED, message)

    def _answer_again(self) -> None:
        """After a model was loaded, or not: translate what is shown, unless it is from a file."""
        if self._trace_file is not None:
            self._settle(Phase.READY, self._about_trace)
        else:
            self._translate_here(self._session.text, self._wanted)

    def _on_explained(self, explanation: Explanation) -> None:
        self._show_answer(explanation.trace, explanation.milliseconds)

    def _show_answer(self, trace: Trace, milliseconds: float | None = None) -> None:
        """`milliseconds`: what it took; None where it was there already."""
        model = self._session.model
        assert model is not None
        is_current = not self._ask.isActive()  # else the text has changed since
        selection = opening_selection(model, trace) if self._opening else None
        self._opening = False
        if is_current and self._wanted is not None:
            selection, self._wanted = self._wanted, None
        self._session.set_trace(trace, selection)
        if is_current:
            self.gating.follow(trace)
            self._stale.stop()
            self.sentences.add(trace)
            self._settle(Phase.READY, milliseconds=milliseconds)
            self.sentences.go_on()

    def _on_explain_failed(self, message: str) -> None:
        if not self._ask.isActive():
            self._stale.stop()
            self.sentences.fail(message)
            self._settle(Phase.FAILED, message)
            self.sentences.go_on()


def _remembered(path: Path) -> str:
    """How the settings name a model."""
    return path.stem if path in bundled_models() else str(path)
