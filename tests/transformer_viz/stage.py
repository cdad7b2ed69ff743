"""The app without a model: a backend that answers as a test tells it, and all that hangs on it."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QLabel, QWidget

from core.analysis.composition import rollout
from core.analysis.contributions import Contributions
from core.analysis.direct import DirectParts, Part, Source
from core.analysis.lens import LayerLens
from core.config import ModelConfig
from core.decoding.beam_tree import BeamTree
from core.errors import UserError
from core.switches import INTACT, Switches
from core.text.tokens import Token, TokenKind
from core.trace.doubts import Uptake
from core.trace.positions import PositionTable
from core.trace.states import StackStates, States, Sublayer, SublayerState
from core.trace.trace import AttentionKind, Head, StoredAttention, Trace
from core.trace.variant import Variant
from transformer_viz.engine.backend import WordOrder
from transformer_viz.engine.engine import Engine
from transformer_viz.engine.quantities import Quantities
from transformer_viz.engine.readings import Lens, PushedWord, Pushes
from transformer_viz.engine.resolution import Resolution, famous_pairs
from transformer_viz.engine.sentence_effect import SentenceEffect, WholeSentence
from transformer_viz.engine.worker import Context
from transformer_viz.shell.controller import Controller
from transformer_viz.state.gates import ALL_ON, Gates, silenced
from transformer_viz.state.hypotheses import Candidate
from transformer_viz.state.session import ModelInfo, Phase, Search, Session
from transformer_viz.state.settings import Settings, SettingsFile

IT_HEAD = {"kind": "encoder_self", "layer": 1, "head": 2}
DECODER = (AttentionKind.DECODER_SELF, AttentionKind.CROSS)
GOOD = Path("good.safetensors")
OTHER = Path("other.safetensors")


def word_trace(text: str, *more: str, step: float = -0.5) -> Trace:
    """A trace of two layers of three heads over the words of the text; the translation is the
    same words in capitals, and `more` of them, each with this log-probability."""
    end = Token("</s>", 3, TokenKind.SPECIAL)
    source = (
        *(
            Token("▁" + match[0], 4 + i, start=match.start(), end=match.end())
            for i, match in enumerate(re.finditer(r"\S+", text))
        ),
        end,
    )
    words = [*text.upper().split(), *more]
    output = tuple(Token("▁" + word, 4 + i) for i, word in enumerate(words))
    target = (Token("<s>", 2, TokenKind.SPECIAL), *output)

    def maps(queries: int, keys: int, causal: bool = False) -> StoredAttention:
        ones = np.ones((2, 3, queries, keys), np.float32)
        weights = np.tril(ones) if causal else ones
        return StoredAttention(weights / weights.sum(axis=-1, keepdims=True))

    return Trace(
        text=text,
        translation=" ".join(words),
        source_tokens=source,
        target_tokens=target,
        predicted_tokens=(*output, end),
        log_probabilities=np.full(len(target), step, np.float32),
        attention={
            AttentionKind.ENCODER_SELF: maps(len(source), len(source)),
            AttentionKind.DECODER_SELF: maps(len(target), len(target), causal=True),
            AttentionKind.CROSS: maps(len(target), len(source)),
        },
    )


def texts(widget: QWidget) -> list[str]:
    """What the labels in it say."""
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def weights_alone(session: Session) -> Quantities:
    """Without an engine nothing else can be shown."""

    def ask(lane: str, question: object, *, done: object, failed: object) -> None:
        raise AssertionError("A weight takes no engine.")

    return Quantities(session, ask, lambda lane: None, session)


class FakeBackend:
    """Answers at once, or, when `gate` is cleared, when it is set again."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.explained: list[tuple[str, Search]] = []
        self.translated: list[tuple[str, ...]] = []
        self.compared: list[tuple[Path, str]] = []
        self.asked: list[tuple[str, Search, bool, WordOrder]] = []  # of `what_if`
        self.decomposed: list[Trace] = []  # by `contributions`
        self.recorded: list[tuple[Trace, Sequence[int], Sequence[int]]] = []  # by `states`
        self.measured: list[tuple[str, int]] = []  # by `sentence_effects`
        self.asked_about: list[Trace] = []  # by `uptakes`
        self.busy = threading.Event()
        self.gates = ALL_ON  # of the question that is being answered
        self.switches = INTACT

    @contextmanager
    def altered(self, gates: Gates, switches: Switches) -> Iterator[None]:
        self.gates, self.switches = gates, switches
        yield
        self.gates, self.switches = ALL_ON, INTACT

    def load(self, path: Path, context: Context) -> ModelInfo:
        if path not in (GOOD, OTHER):
            raise UserError(f"{path} is truncated.")
        config = ModelConfig(
            **{"vocab_size": 100, "d_model": 8, "d_k": 2, "encoder_d_ff": 8, "decoder_d_ff": 8},
            **{"encoder_layers": 2, "decoder_layers": 2, "encoder_heads": 3, "decoder_heads": 3},
        )
        scores = {"scores": {"it_head": IT_HEAD}}
        return ModelInfo(path.stem, path, 2, 2, 3, 3, 8, 100, scores, config=config)

    def explain(
        self, text: str, search: Search, context: Context, target: str | None = None
    ) -> Trace:
        self.explained.append((text, search))
        self.busy.set()
        self.gate.wait(10)
        if "boom" in text:
            raise UserError("Cannot translate this.")
        trace = word_trace(text, *["OFF"] * len(silenced(self.gates)))
        return replace(trace, gates=self.gates, switches=self.switches)

    def translate(self, texts: Sequence[str], search: Search, context: Context) -> tuple[str, ...]:
        self.translated.append(tuple(texts))
        self.gate.wait(10)
        if any("boom" in text for text in texts):
            raise UserError("Cannot translate this.")
        return tuple(word_trace(text).translation for text in texts)

    def compare(
        self, path: Path, text: str, search: Search, context: Context
    ) -> tuple[ModelInfo, Trace]:
        self.compared.append((path, text))
        self.busy.set()
        self.gate.wait(10)
        if "boom" in text:
            raise UserError("Cannot translate this.")
        return self.load(path, context), word_trace(text)

    def measure_products(self, context: Context) -> None:
        pass

    def lens(self, trace: Trace, states: States, context: Context) -> Lens:
        """The word that the trace has next takes the lead in layer 1 at even rows, else in layer
        2; below, it is second."""
        rows, end = states.decoder.positions, trace.predicted_tokens[-1]
        ids = np.zeros((3, len(rows), 2), np.int64)
        probabilities = np.zeros((3, len(rows), 2), np.float32)
        for index, row in enumerate(rows):
            for layer in range(3):
                own, other = trace.predicted_tokens[row].id, 4 + (row + 1) % 2
                leads = layer > row % 2
                ids[layer, index] = (own, other) if leads else (other, own)
                probabilities[layer, index] = 0.5 + layer / 10, 0.25
        tokens = {token.id: token for token in (*trace.predicted_tokens, *trace.source_tokens)}
        ranks = np.ones((3, len(rows)), np.int64)
        lens = LayerLens(ids, probabilities, probabilities[..., 0], ranks)
        return Lens(lens, trace, rows, {4: end, 5: end} | tokens)

    def pushes(
        self, trace: Trace, states: States, index: int, heads: Sequence[Head], context: Context
    ) -> Pushes:
        """A part for the embedding and one for each head, whose contribution is its number."""
        row = states.decoder.positions[index]
        every = [head for kind in DECODER for head in trace.every_head(kind)]
        sublayers = {
            AttentionKind.DECODER_SELF: Sublayer.SELF_ATTENTION,
            AttentionKind.CROSS: Sublayer.CROSS_ATTENTION,
        }
        parts = (
            Part(Source.EMBEDDING),
            *(Part(Source.HEAD, head.layer, sublayers[head.kind], head) for head in every),
        )
        added = np.array([2.0, *(head.layer - head.head / 2 for head in every), 0.0])
        return Pushes(
            position=row,
            fed=trace.target_tokens[row],
            heads=tuple(heads),
            up=(PushedWord(trace.source_tokens[0], 1.5),),
            down=(PushedWord(trace.source_tokens[-1], -0.5),),
            word=trace.predicted_tokens[row],
            parts=DirectParts(parts, np.zeros((len(parts), 8)), 0.0),
            contributions=added,
            means=np.zeros(len(added)),
            logit=float(added.sum()),
        )

    def uptakes(
        self, trace: Trace, function_words: frozenset[str], context: Context
    ) -> tuple[Uptake, ...]:
        """Nothing of words with an x, one nat of the others."""
        self.asked_about.append(trace)
        return tuple(
            Uptake(token.label, range(place, place + 1), float("x" not in token.label))
            for place, token in enumerate(trace.source_tokens[:-1])
            if token.label not in function_words
        )

    def positions(self, context: Context) -> PositionTable:
        return PositionTable(values=np.zeros((40, 8), np.float32), trained=20)

    def contributions(self, trace: Trace, context: Context) -> Contributions:
        """Each head moves vectors of length 1 + layer + head; the shares are the rollout's."""
        self.decomposed.append(trace)
        self.busy.set()
        self.gate.wait(10)
        kinds = trace.kinds
        layers = {kind: range(trace.layers(kind)) for kind in kinds}
        lengths = {
            kind: tuple(
                np.add.outer(
                    1 + layer + np.array(trace.heads(kind, layer)),
                    np.zeros(len(trace.key_tokens(kind))),
                ).astype(np.float32)
                for layer in layers[kind]
            )
            for kind in kinds
        }
        norms = {
            kind: tuple(2 * trace.layer_weights(kind, layer).mean(axis=0) for layer in layers[kind])
            for kind in kinds
        }
        return Contributions(trace, lengths, norms, rollout(trace), 0.0)

    def states(
        self, trace: Trace, source: Sequence[int], target: Sequence[int], context: Context
    ) -> States:
        """Each vector holds the number of its position in both of its dimensions."""
        self.recorded.append((trace, source, target))
        self.busy.set()
        self.gate.wait(10)

        def stack(positions: Sequence[int], *sublayers: Sublayer) -> StackStates:
            vectors = np.repeat(np.array(positions, np.float32)[:, None], 2, axis=1)
            heads = np.repeat(vectors, 3, axis=1)  # two dimensions for each of three
            layer = tuple(
                SublayerState(sublayer, False, vectors, vectors, vectors, heads)
                for sublayer in sublayers
            )
            return StackStates(tuple(positions), vectors, vectors, (layer, layer), vectors)

        own, cross, network = Sublayer
        return States(stack(source, own, network), stack(target, own, cross, network))

    def candidates(
        self, text: str, ids: Sequence[int], context: Context
    ) -> tuple[tuple[Candidate, ...], ...]:
        raise UserError("There are no candidates without a model.")

    def branch(
        self, text: str, prefix: Sequence[int], typed: str, context: Context
    ) -> tuple[Trace, int]:
        raise UserError("Nothing can be decoded without a model.")

    def hypothesis(self, text: str, ids: Sequence[int], context: Context) -> Trace:
        """Its log-probability is less by 1 at each step for each head that is off."""
        return word_trace(text, step=-0.5 - len(silenced(self.gates)))

    def beam_tree(self, text: str, search: Search, context: Context) -> BeamTree:
        raise UserError("Nothing can be searched for without a model.")

    def resolution(self, context: Context) -> Resolution:
        """The first head is right in three of four pairs, the others never."""
        heads = {Head(AttentionKind.ENCODER_SELF, 0, head): 0.75 * (head == 0) for head in range(3)}
        return Resolution(famous_pairs(), heads, 4)

    def sentence_effects(
        self, text: str, search: Search, settings: Sequence[Gates], check: Callable[[], None]
    ) -> Iterator[WholeSentence | SentenceEffect]:
        """Each head that is off costs a tenth of its layer and head, counted from 1; without the
        first one the translation is another."""
        self.measured.append((text, len(settings)))
        words = text.upper()
        yield WholeSentence(words, -1.0)
        for setting in settings:
            self.busy.set()
            self.gate.wait(10)
            check()
            cost = sum(head.layer + 1 + (head.head + 1) / 10 for head in setting) / 10
            first = Head(AttentionKind.ENCODER_SELF, 0, 0) in setting
            yield SentenceEffect(setting, -cost, f"{words} OFF" if first else words, first)

    def stretch(self, text: str, words: int, context: Context) -> str:
        """Behind the first word."""
        first, *rest = text.split()
        if first == "boom":
            raise UserError("Nothing fits in here.")
        return " ".join([first, *["more"] * words, *rest])

    def step_seconds(self, text: str, length: int, context: Context) -> tuple[float, float]:
        """A row takes a millisecond."""
        return 0.001, 0.001 * length

    def what_if(
        self, text: str, search: Search, positions: bool, order: WordOrder, context: Context
    ) -> Variant:
        """Shuffling turns the words around; an order that was chosen is kept."""
        self.asked.append((text, search, positions, order))
        self.busy.set()
        self.gate.wait(10)
        words = text.split()
        if len(words) < 2:
            raise UserError("There is nothing to shuffle.")
        places = list(range(len(words)))
        if order is not None:
            places = places[::-1] if isinstance(order, int) else list(order)
        turned = [words[place] for place in places]
        return Variant(
            reference=word_trace(text),
            trace=word_trace(" ".join(turned)),
            order=(*places, len(words)),
            positions=positions,
            difference=0.25,
        )


class Stage:
    """Session, engine and controller on a fake backend, and what they said."""

    def __init__(self, backend: FakeBackend | None = None) -> None:
        self.backend = backend or FakeBackend()
        self.session = Session()
        self.engine = Engine(self.backend)
        file = SettingsFile(None)
        self.controller = Controller(self.session, self.engine, Settings(), file)
        self.controller.effect._start.setInterval(10**8)  # no process by itself
        self.notices: list[str] = []
        self.traces: list[Trace | None] = []
        for said in (self.controller.noticed, self.controller.openFailed):
            said.connect(self.notices.append)
        self.session.traceChanged.connect(self.traces.append)

    def shows(self, text: str) -> Callable[[], bool]:
        def check() -> bool:
            trace = self.session.trace
            return (
                trace is not None
                and trace.text == text
                and self.session.status.phase is Phase.READY
            )

        return check

    @property
    def phase(self) -> Phase:
        return self.session.status.phase
