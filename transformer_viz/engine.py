"""The one door to the models: loads checkpoints and explains sentences in a worker thread.

torch is imported in that thread, after the window has appeared, and nowhere else in the app.
"""

import ctypes
import importlib.util
import logging
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from core.checkpoints.header import Header, read_header
from core.errors import UserError
from core.trace.trace import Trace
from transformer_viz.session import ModelInfo, Search
from transformer_viz.worker import Context, Worker

if TYPE_CHECKING:
    from core.checkpoints.native import Checkpoint

MAX_TOKENS = 4_000
"""A longer text is refused: one head's map alone would take more than 64 MB."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A translated sentence with the attention that produced it, and what it took."""

    trace: Trace
    milliseconds: float


class Backend(Protocol):
    """What the engine does in its thread. A call that fails leaves the last good model."""

    def load(self, path: Path, context: Context) -> ModelInfo: ...

    def explain(self, text: str, search: Search, context: Context) -> Trace: ...


class Engine(QObject):
    """Asynchronous: each request ends in its signal, unless a newer one takes its place."""

    progressed = Signal(str)
    loaded = Signal(object)  # ModelInfo
    loadFailed = Signal(str)
    explained = Signal(object)  # Explanation
    explainFailed = Signal(str)

    def __init__(self, backend: Backend, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._backend = backend
        self._worker = Worker("engine", lanes=("load", "explain"), parent=self)

    def load(self, path: Path) -> None:
        self._worker.submit(
            "load",
            lambda context: self._backend.load(path, context),
            done=self.loaded.emit,
            failed=self._report(self.loadFailed.emit),
            progress=self.progressed.emit,
        )

    def explain(self, text: str, search: Search) -> None:
        def run(context: Context) -> Explanation:
            start = time.perf_counter()
            trace = self._backend.explain(text, search, context)
            return Explanation(trace, 1000 * (time.perf_counter() - start))

        self._worker.submit(
            "explain",
            run,
            done=self.explained.emit,
            failed=self._report(self.explainFailed.emit),
            progress=self.progressed.emit,
        )

    def cancel_explain(self) -> None:
        self._worker.cancel("explain")

    def close(self) -> None:
        """Stop what runs and wait for the thread; no signal is sent any more."""
        self._worker.close()

    @staticmethod
    def _report(send: Callable[[str], None]) -> Callable[[Exception], None]:
        return lambda error: send(sentence(error))


def sentence(error: Exception) -> str:
    """The failure in one sentence; one that is not the user's goes to the log in full."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "There is not enough memory for this; try a shorter text or a smaller model."
    _log.error("The engine failed", exc_info=error)
    return f"The engine failed unexpectedly ({type(error).__name__}: {error})."


class TorchBackend:
    """The Transformer of `core` on this machine's processor."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._checkpoint: Checkpoint | None = None

    def load(self, path: Path, context: Context) -> ModelInfo:
        header = read_header(path)  # a file that is no model is refused before torch is needed
        if "torch" not in sys.modules:
            context.report("Loading the engine …")
            _map_torch()
        import torch

        torch.set_num_threads(self._threads)
        from core.checkpoints.native import load_checkpoint

        context.report(f"Reading {path.name} …")
        checkpoint = load_checkpoint(path)
        context.check()
        self._checkpoint = checkpoint
        return _info(header, path)

    def explain(self, text: str, search: Search, context: Context) -> Trace:
        from core.decoding.config import SearchConfig
        from core.trace.record import trace_text

        checkpoint = self._checkpoint
        if checkpoint is None:
            raise UserError("There is no model to translate with; open a checkpoint.")
        count = len(checkpoint.tokenizer.encode(text))
        if count > MAX_TOKENS:
            raise UserError(
                f"This text has {count:,} tokens and the limit is {MAX_TOKENS:,}; shorten it."
            )
        return trace_text(
            checkpoint.model,
            checkpoint.tokenizer,
            text,
            search=SearchConfig(beam=search.beam, alpha=search.alpha),
            check=context.check,
        )


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


def _info(header: Header, path: Path) -> ModelInfo:
    config = header.config
    return ModelInfo(
        name=path.stem,
        path=path,
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        encoder_heads=config.encoder_heads,
        decoder_heads=config.decoder_heads,
        d_model=config.d_model,
        parameters=header.parameters,
        provenance=header.provenance,
    )
