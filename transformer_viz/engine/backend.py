"""What the window asks of models: the one module of the app that knows torch and `core`'s models.

All of it runs in the engine's thread; torch is imported there, after the window has appeared.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from core.analysis.contributions import Contributions
from core.checkpoints.header import read_header
from core.checkpoints.kinds import Kind, recognise
from core.decoding.beam_tree import BeamTree
from core.errors import UserError
from core.files import is_folder
from core.heads import Head
from core.remote.hub_cache import model_name
from core.switches import Switches
from core.text.tokens import TokenKind
from core.trace.doubts import Uptake
from core.trace.positions import PositionTable
from core.trace.states import States
from core.trace.trace import Trace
from core.trace.variant import Variant
from transformer_viz.engine.readings import Lens, PushedWord, Pushes
from transformer_viz.engine.resolution import ItPair, ItSentence, Resolution, famous_pairs
from transformer_viz.engine.sentence_effect import SentenceEffect, WholeSentence
from transformer_viz.engine.worker import Context
from transformer_viz.state.gates import Gates
from transformer_viz.state.hypotheses import Candidate
from transformer_viz.state.options import Penalty
from transformer_viz.state.session import ModelInfo, Search

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint
    from core.decoding.config import SearchConfig
    from core.text.tokenizer import Tokenizer

WordOrder: TypeAlias = int | tuple[int, ...] | None
"""The seed of a shuffle, or the words by their places; None leaves them as they are."""

MAX_TOKENS = 5_000
"""A longer text is refused: one head's map alone would take more than 100 MB."""

PAIRS, SHOWN_PAIRS = 100, 30
"""Minimal pairs that heads are judged by, and how many of them can be chosen."""

FEWEST_POSITIONS = 512
"""Of sinusoids, which have no end, so many are shown."""


class Backend(Protocol):
    """What the engine does in its thread. A call that fails leaves the last good model."""

    def load(self, path: Path, context: Context) -> ModelInfo: ...

    def altered(self, gates: Gates, switches: Switches) -> AbstractContextManager[None]:
        """Let the loaded model answer with these gates and switches inside the context."""
        ...

    def explain(
        self, text: str, search: Search, context: Context, target: str | None = None
    ) -> Trace: ...

    def translate(self, texts: Sequence[str], search: Search, context: Context) -> tuple[str, ...]:
        """The translations that `explain` would give, without attention."""
        ...

    def compare(
        self, path: Path, text: str, search: Search, context: Context
    ) -> tuple[ModelInfo, Trace]:
        """Explain with the model of this file, which is kept beside the one that was loaded."""
        ...

    def positions(self, context: Context) -> PositionTable:
        """The loaded model's positional encoding."""
        ...

    def what_if(
        self, text: str, search: Search, positions: bool, order: WordOrder, context: Context
    ) -> Variant:
        """The text as it is, and without positions or in another order, or both."""
        ...

    def contributions(self, trace: Trace, context: Context) -> Contributions:
        """What attention moved in the pass that made the trace."""
        ...

    def states(
        self, trace: Trace, source: Sequence[int], target: Sequence[int], context: Context
    ) -> States:
        """Record the residual stream of these tokens in the pass that made the trace."""
        ...

    def lens(self, trace: Trace, states: States, context: Context) -> Lens:
        """What each decoder layer would say at the recorded target positions."""
        ...

    def pushes(
        self, trace: Trace, states: States, index: int, heads: Sequence[Head], context: Context
    ) -> Pushes:
        """What these decoder heads add to the logits at a recorded target position, and how the
        logit of the word that the trace has next is made of all parts."""
        ...

    def uptakes(
        self, trace: Trace, function_words: frozenset[str], context: Context
    ) -> tuple[Uptake, ...]:
        """Return what the translation of the trace has of each source word but these."""
        ...

    def candidates(
        self, text: str, ids: Sequence[int], context: Context
    ) -> tuple[tuple[Candidate, ...], ...]:
        """The most probable tokens at each step of a hypothesis, best first."""
        ...

    def branch(
        self, text: str, prefix: Sequence[int], typed: str, context: Context
    ) -> tuple[Trace, int]:
        """Go on greedily from a prefix and what was typed behind it; says how many tokens that
        were."""
        ...

    def hypothesis(self, text: str, ids: Sequence[int], context: Context) -> Trace:
        """Record the pass over exactly these tokens."""
        ...

    def beam_tree(self, text: str, search: Search, context: Context) -> BeamTree: ...

    def step_seconds(self, text: str, length: int, context: Context) -> tuple[float, float]:
        """Return how long the step after so many target tokens takes with a cache and without."""
        ...

    def stretch(self, text: str, words: int, context: Context) -> str:
        """Return an English text with so many words inserted."""
        ...

    def measure_products(self, context: Context) -> None:
        """Measure which matrix products are fastest here, for the next start: within this one the
        same question has the same answer to the last digit."""
        ...

    def resolution(self, context: Context) -> Resolution:
        """Return minimal pairs, and how often each head finds what "it" means."""
        ...

    def sentence_effects(
        self, text: str, search: Search, settings: Sequence[Gates], check: Callable[[], None]
    ) -> Iterator[WholeSentence | SentenceEffect]:
        """The text with all heads on, then with each setting alone. Between two results the model
        may be used for something else."""
        ...


class _Translated(NamedTuple):
    """A text, and the ids of its translation without specials."""

    text: str
    ids: tuple[int, ...]

    def draft(self, text: str) -> tuple[int, ...]:
        """The translation if at least half of both texts is a common beginning: an edit further on
        leaves the beginning of a translation as it is, most of the time."""
        both = enumerate(zip(self.text, text, strict=False))
        shorter = min(len(self.text), len(text))
        common = next((at for at, (one, other) in both if one != other), shorter)
        return self.ids if 2 * common >= max(len(self.text), len(text)) else ()


_NOTHING = _Translated("", ())


class TorchBackend:
    """The Transformer of `core` on this machine's processor."""

    def __init__(self, threads: int, most_threads: int | None = None) -> None:
        """`most_threads`: for long texts, which take seconds; None for no more than `threads`."""
        self._threads, self._most_threads = threads, most_threads
        self._first: tuple[ModelInfo, Checkpoint] | None = None
        self._second: tuple[ModelInfo, Checkpoint] | None = None  # the last one compared with
        self._last = _NOTHING  # translated by the first one

    def load(self, path: Path, context: Context) -> ModelInfo:
        self._first, self._last = self._read(path, context), _NOTHING
        return self._first[0]

    @contextmanager
    def altered(self, gates: Gates, switches: Switches) -> Iterator[None]:
        """Apply gates and switches; heads that the model does not have are left out, since the
        gates may be those of the model that it has just replaced."""
        if self._first is None or (not gates and switches.intact):
            yield
            return
        from core.model.gates import Gates as Factors
        from core.model.gates import gated
        from core.model.switched import switched

        info, checkpoint = self._first
        factors = {head: factor for head, factor in gates.items() if info.has(head)}
        model = checkpoint.model
        with gated(model, Factors.of(model.config, factors)), switched(model, switches):
            yield

    def _read(self, path: Path, context: Context) -> tuple[ModelInfo, Checkpoint]:
        kind, path = recognise(path)
        if kind is Kind.NATIVE:
            read_header(path)  # a file that is no model is refused before torch is needed
        if "torch" not in sys.modules:
            context.report("Loading the engine…")
            _map_torch()
        import torch

        torch.set_num_threads(self._threads)
        from core.checkpoints.opening import open_model

        context.report(f"Reading {path.name}…")
        checkpoint = open_model(path, measures=False)  # the first picture is not to wait
        context.check()
        return _info(kind, path, checkpoint), checkpoint

    def explain(
        self, text: str, search: Search, context: Context, target: str | None = None
    ) -> Trace:
        """Translate and record; with a `target`, record that translation instead."""
        checkpoint = self._ready()
        trace = self._trace(checkpoint, text, search, context, target, self._last.draft(text))
        ids = tuple(token.id for token in trace.predicted_tokens[:-1])
        self._last = _Translated(text, ids)
        return trace

    def translate(self, texts: Sequence[str], search: Search, context: Context) -> tuple[str, ...]:
        from core.decoding.translate import translate

        checkpoint = self._ready()
        for text in texts:
            _require_room("sentence", text, checkpoint.tokenizer)
        found = translate(
            checkpoint.model,
            checkpoint.tokenizer,
            texts,
            _config(checkpoint, search),
            check=context.check,
        )
        return tuple(one.text for one in found)

    def compare(
        self, path: Path, text: str, search: Search, context: Context
    ) -> tuple[ModelInfo, Trace]:
        place = recognise(path)[1]
        kept = (one for one in (self._first, self._second) if one and one[0].path == place)
        one = next(kept, None)
        if one is None:
            one = self._second = self._read(path, context)
        info, checkpoint = one
        return info, self._trace(checkpoint, text, search, context)

    def positions(self, context: Context) -> PositionTable:
        """Return the positions; sinusoids go on beyond what the model saw in training, a learned
        table ends."""
        import torch

        checkpoint = self._ready()
        config = checkpoint.config
        if config.positions == "none":
            raise UserError(
                "This model has no positions: it cannot tell one order of the words from another."
            )
        trained = checkpoint.provenance.get("training", {}).get("max_length")
        learned = config.positions == "learned"
        count = config.max_positions if learned else max(FEWEST_POSITIONS, 2 * (trained or 0))
        with torch.inference_mode():
            turning = next(checkpoint.model.encoder_layers()).self_attention.rotary
            if turning is None:
                rows = checkpoint.model.positions(0, count)
            else:
                rows = turning(torch.tensor([1.0, 0.0]).repeat(count, turning.width // 2))
            values = rows.float().cpu().numpy().copy()
        return PositionTable(
            values=values,
            kind=config.positions,
            layout=config.position_layout,
            denominator=config.position_denominator,
            trained=trained,
        )

    def what_if(
        self, text: str, search: Search, positions: bool, order: WordOrder, context: Context
    ) -> Variant:
        from core.trace.what_if import trace_variant

        checkpoint = self._ready()
        return trace_variant(
            checkpoint.model,
            checkpoint.tokenizer,
            text,
            positions=positions,
            order=order,
            search=_config(checkpoint, search),
            check=context.check,
        )

    def contributions(self, trace: Trace, context: Context) -> Contributions:
        from core.analysis.decomposition import decompose

        return decompose(self._ready().model, trace, context.check)

    def states(
        self, trace: Trace, source: Sequence[int], target: Sequence[int], context: Context
    ) -> States:
        from core.model.switched import switched
        from core.trace.record_states import record_states

        model = self._ready().model
        with switched(model, trace.switches):
            return record_states(model, trace, source=source, target=target, check=context.check)

    def lens(self, trace: Trace, states: States, context: Context) -> Lens:
        from core.analysis.readout import layer_lens

        checkpoint = self._ready()
        found = layer_lens(checkpoint.model, trace, states, check=context.check)
        token = checkpoint.tokenizer.target.token
        ids = sorted({int(id) for id in found.ids.flat})
        return Lens(found, trace, states.decoder.positions, {id: token(id) for id in ids})

    def pushes(
        self, trace: Trace, states: States, index: int, heads: Sequence[Head], context: Context
    ) -> Pushes:
        from core.analysis.readout import (
            contributions_to,
            direct_parts,
            logit_of,
            mean_contributions,
            pushed_words,
        )

        checkpoint = self._ready()
        model, token = checkpoint.model, checkpoint.tokenizer.target.token
        parts = direct_parts(model, states, index)
        context.check()
        words = pushed_words(model, parts, [parts.index(head) for head in heads])
        position = states.decoder.positions[index]
        word = trace.predicted_tokens[position]
        up, down = (
            tuple(PushedWord(token(one.id), one.change) for one in side)
            for side in (words.up, words.down)
        )
        return Pushes(
            position=position,
            fed=trace.target_tokens[position],
            heads=tuple(heads),
            up=up,
            down=down,
            word=word,
            parts=parts,
            contributions=contributions_to(model, parts, [word.id])[:, 0],
            means=mean_contributions(model, parts),
            logit=logit_of(model, states, index, word.id),
        )

    def uptakes(
        self, trace: Trace, function_words: frozenset[str], context: Context
    ) -> tuple[Uptake, ...]:
        from core.analysis.uptake import word_uptakes

        model = self._ready().model
        end = model.config.eos_id
        found = word_uptakes(
            model,
            trace.source_tokens[:-1],
            [token.id for token in trace.predicted_tokens if token.id != end],
            function_words,
            check=context.check,
        )
        return tuple(found)

    def candidates(
        self, text: str, ids: Sequence[int], context: Context
    ) -> tuple[tuple[Candidate, ...], ...]:
        from core.decoding.candidates import step_candidates

        checkpoint = self._ready()
        tokenizer = checkpoint.tokenizer
        steps = step_candidates(checkpoint.model, tokenizer.encode(text), ids, check=context.check)
        return tuple(
            tuple(Candidate(tokenizer.target.token(one.id), one.log_probability) for one in step)
            for step in steps
        )

    def branch(
        self, text: str, prefix: Sequence[int], typed: str, context: Context
    ) -> tuple[Trace, int]:
        from core.decoding.continuation import continue_greedily
        from core.trace.record import trace_hypothesis

        checkpoint = self._ready()
        model, tokenizer = checkpoint.model, checkpoint.tokenizer
        pieces = tokenizer.target.continuation(typed)
        for piece in pieces:
            if piece.kind is TokenKind.UNKNOWN:
                raise UserError(
                    f"“{piece.label}” is not in this model's vocabulary; type something else."
                )
        given = [*prefix, *(piece.id for piece in pieces)]
        source = tokenizer.encode(text)
        ids = continue_greedily(model, source, given, check=context.check)
        return trace_hypothesis(model, tokenizer, text, ids), len(given)

    def hypothesis(self, text: str, ids: Sequence[int], context: Context) -> Trace:
        from core.trace.record import trace_hypothesis

        checkpoint = self._ready()
        return trace_hypothesis(checkpoint.model, checkpoint.tokenizer, text, ids)

    def beam_tree(self, text: str, search: Search, context: Context) -> BeamTree:
        from core.decoding.beam_growth import grow_tree

        checkpoint = self._ready()
        tokenizer = checkpoint.tokenizer
        config, source = _config(checkpoint, search), tokenizer.encode(text)
        return grow_tree(checkpoint.model, source, config, tokenizer.target.token, context.check)

    def step_seconds(self, text: str, length: int, context: Context) -> tuple[float, float]:
        from core.analysis.step_times import step_seconds

        checkpoint = self._ready()
        return step_seconds(checkpoint.model, checkpoint.tokenizer.encode(text), length)

    def resolution(self, context: Context) -> Resolution:
        from core.analysis.resolution import resolving_heads
        from core.corpus.grammar.dependencies import Side
        from core.corpus.grammar.generate import minimal_pairs
        from core.corpus.grammar.sentence import Sentence, word_spans
        from core.evaluation.pronouns import coreference

        def sentence(one: Sentence) -> ItSentence:
            gold, spans = coreference(one, Side.SOURCE), word_spans(one.source_words)
            return ItSentence(one.source, spans[gold.start], spans[gold.end])

        checkpoint = self._ready()
        drawn = list(minimal_pairs(PAIRS, seed=0, split="test"))
        both = resolving_heads(checkpoint.model, checkpoint.tokenizer, drawn, check=context.check)
        pairs = (ItPair(sentence(first), sentence(second)) for first, second in drawn[:SHOWN_PAIRS])
        return Resolution((*famous_pairs(), *pairs), both, len(drawn))

    def sentence_effects(
        self, text: str, search: Search, settings: Sequence[Gates], check: Callable[[], None]
    ) -> Iterator[WholeSentence | SentenceEffect]:
        from core.analysis.sentence_effects import Whole, sentence_effects

        checkpoint = self._ready()
        for found in sentence_effects(
            checkpoint.model,
            checkpoint.tokenizer,
            text,
            settings,
            search=_config(checkpoint, search),
            check=check,
        ):
            if isinstance(found, Whole):
                yield WholeSentence(found.translation, found.log_probability)
            else:
                yield SentenceEffect(found.factors, found.change, found.translation, found.differs)

    def measure_products(self, context: Context) -> None:
        from core.model.measuring import best_choice

        best_choice(limit=self._threads)

    def stretch(self, text: str, words: int, context: Context) -> str:
        from core.corpus.grammar.stretch import stretch_text

        return stretch_text(text, words)

    def _trace(
        self,
        checkpoint: Checkpoint,
        text: str,
        search: Search,
        context: Context,
        target: str | None = None,
        draft: Sequence[int] = (),
    ) -> Trace:
        from core.trace.record import trace_text

        tokenizer = checkpoint.tokenizer
        _require_room("text", text, tokenizer)
        _require_room("translation", target or "", tokenizer.target)
        return trace_text(
            checkpoint.model,
            checkpoint.tokenizer,
            text,
            target=target,
            search=_config(checkpoint, search),
            draft=draft,
            threads=self._most_threads,
            check=context.check,
        )

    def _ready(self) -> Checkpoint:
        if self._first is None:
            raise UserError("There is no model to translate with; open a checkpoint.")
        return self._first[1]


def _map_torch() -> None:
    """Map torch's libraries into memory while the window goes on.

    The import itself would do it with the interpreter locked, for 0.2 to 0.5 s; a call through
    ctypes releases the lock, and the import then finds them there. Where this fails the import
    does all, as ever.
    """
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None or sys.platform != "linux":
        return
    library = Path(spec.origin).parent / "lib" / "libtorch_python.so"
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.argtypes, dlopen.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    dlopen(os.fsencode(library), os.RTLD_NOW)


def _require_room(name: str, text: str, tokenizer: Tokenizer) -> None:
    count = len(tokenizer.encode(text))
    if count > MAX_TOKENS:
        raise UserError(
            f"This {name} has {count:,} tokens and the limit is {MAX_TOKENS:,}; shorten it."
        )


def _config(checkpoint: Checkpoint, search: Search) -> SearchConfig:
    """What was set in the window, and for the rest what the model brings along."""
    from core.decoding.config import SearchConfig

    penalty = None if search.penalty is Penalty.MODEL else search.penalty
    return SearchConfig.of_model(
        checkpoint.provenance, beam=search.beam, alpha=search.alpha, penalty=penalty
    )


def _info(kind: Kind, path: Path, checkpoint: Checkpoint) -> ModelInfo:
    config = checkpoint.config
    return ModelInfo(
        name=_name(kind, path),
        path=path,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        encoder_heads=config.encoder_heads,
        decoder_heads=config.decoder_heads,
        d_model=config.d_model,
        config=config,
        parameters=checkpoint.model.parameter_count(),
        provenance=checkpoint.provenance,
        vocabulary=hashlib.sha256(checkpoint.tokenizer.identity).hexdigest(),
        pruned=frozenset(config.pruned_heads),
        languages=checkpoint.tokenizer.languages,
        left_out=checkpoint.left_out,
    )


def _name(kind: Kind, path: Path) -> str:
    """Marian's own files are called after what they are; their folder says which model it is."""
    if is_folder(path):
        return model_name(path)
    generic = kind is Kind.MARIAN_NPZ and path.stem.startswith("model")
    return path.absolute().parent.name if generic else path.stem
