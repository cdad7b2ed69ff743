"""The engine on a real, tiny model."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.errors import UserError
from core.trace.trace import AttentionKind, Trace
from tests.transformer_viz.models import save_tiny_model
from transformer_viz.engine.backend import MAX_TOKENS, TorchBackend
from transformer_viz.engine.engine import Engine, sentence
from transformer_viz.engine.worker import Context, Stopped
from transformer_viz.state.options import Penalty
from transformer_viz.state.session import Search

TEXT = "The animal didn't cross the street."


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny.safetensors")


@pytest.fixture
def context() -> Context:
    return Context(stale=lambda: False, report=lambda _text: None)


@pytest.fixture
def backend(tiny: Path, context: Context) -> TorchBackend:
    made = TorchBackend(threads=1)
    made.load(tiny, context)
    return made


def test_the_model_describes_itself(tiny: Path, context: Context) -> None:
    told: list[str] = []
    info = TorchBackend(1).load(tiny, Context(lambda: False, told.append))
    assert (info.name, info.path) == ("tiny", tiny)
    assert (info.encoder_layers, info.decoder_layers) == (2, 3)
    assert (info.encoder_heads, info.decoder_heads) == (2, 4)
    assert info.provenance["step"] == 0
    assert told[-1] == "Reading tiny.safetensors…"


@pytest.mark.parametrize("search", [Search(), Search(beam=3, alpha=0.9)])
def test_a_trace_has_every_head_of_every_kind(
    backend: TorchBackend, context: Context, search: Search
) -> None:
    trace = backend.explain(TEXT, search, context)
    assert trace.text == TEXT
    assert trace.source_tokens[-1].label == "</s>"
    assert [trace.layers(kind) for kind in AttentionKind] == [2, 3, 3]
    for kind in AttentionKind:
        weights = trace.layer_weights(kind, 0)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("penalty", Penalty)
def test_the_tree_is_searched_with_the_penalty_that_is_set(
    backend: TorchBackend, context: Context, penalty: Penalty
) -> None:
    tree = backend.beam_tree(TEXT, Search(2, 0.7, penalty), context)
    assert tree.penalty == ("gnmt" if penalty is Penalty.MODEL else penalty)


@pytest.mark.parametrize(
    "text",
    [
        "</s> <s> <pad> <b>",
        "😀 日本語 עברית \u202e",
        "a\ud800b\x00c",
        "x" * 300,
        "1\n2\n\n3",
    ],
    ids=["specials", "scripts", "surrogate", "long word", "lines"],
)
def test_any_text_is_answered(backend: TorchBackend, context: Context, text: str) -> None:
    trace = backend.explain(text, Search(), context)
    specials = [token for token in trace.source_tokens if token.kind == "special"]
    assert len(specials) == 1


def test_too_many_tokens_are_refused_in_one_sentence(
    backend: TorchBackend, context: Context
) -> None:
    with pytest.raises(UserError, match=f"limit is {MAX_TOKENS:,}"):
        backend.explain("the " * (MAX_TOKENS + 1), Search(), context)


def test_a_stale_translation_stops_between_steps(backend: TorchBackend) -> None:
    asked = iter([False, False, True])
    with pytest.raises(Stopped):
        backend.explain(TEXT, Search(), Context(lambda: next(asked), lambda _text: None))


def test_a_failed_load_leaves_the_last_good_model(
    backend: TorchBackend, context: Context, tiny: Path, tmp_path: Path
) -> None:
    truncated = tmp_path / "cut.safetensors"
    truncated.write_bytes(tiny.read_bytes()[:2000])
    other = tmp_path / "notes.txt"
    other.write_text("no model")
    for path in (truncated, other, tmp_path, tmp_path / "missing.safetensors"):
        with pytest.raises(UserError) as raised:
            backend.load(path, context)
        assert str(path) in str(raised.value)
    assert backend.explain(TEXT, Search(), context).text == TEXT


def test_errors_become_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    assert sentence(UserError("Say this.")) == "Say this."
    assert "memory" in sentence(MemoryError())
    assert "memory" in sentence(RuntimeError("DefaultCPUAllocator: can't allocate memory:…"))
    assert not caplog.records
    assert "ValueError: odd" in sentence(ValueError("odd"))
    assert caplog.records[0].exc_info is not None


@pytest.fixture
def engine(qapp: object) -> Iterator[Engine]:
    made = Engine(TorchBackend(threads=1))
    yield made
    made.close()


def test_signals_end_each_request(engine: Engine, qtbot: QtBot, tiny: Path) -> None:
    with qtbot.waitSignal(engine.explainFailed, timeout=20_000) as failed:
        engine.explain(TEXT, Search())
    assert "no model" in failed.args[0]
    with qtbot.waitSignal(engine.loadFailed, timeout=20_000) as failed:
        engine.load(tiny.with_name("missing.safetensors"))
    assert "missing.safetensors" in failed.args[0]
    with qtbot.waitSignal(engine.loaded, timeout=20_000):
        engine.load(tiny)
    with qtbot.waitSignal(engine.explained, timeout=20_000) as explained:
        engine.explain(TEXT, Search())
    trace: Trace = explained.args[0].trace
    assert trace.text == TEXT
    assert explained.args[0].milliseconds > 0


def test_the_thread_count_is_the_one_asked_for(
    tiny: Path, context: Context, restore_threads: Callable[[], None]
) -> None:
    import torch

    TorchBackend(threads=2).load(tiny, context)
    assert torch.get_num_threads() == 2


@pytest.fixture
def restore_threads() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_a_second_model_stands_beside_the_first(
    backend: TorchBackend, context: Context, tiny: Path, tmp_path: Path
) -> None:
    second = save_tiny_model(tmp_path / "second.safetensors")
    info, trace = backend.compare(second, TEXT, Search(), context)
    assert (info.name, trace.text) == ("second", TEXT)
    second.unlink()
    again, _ = backend.compare(second, "A dog.", Search(), context)
    assert again is info, "it is kept"
    own, same = backend.compare(tiny, TEXT, Search(), context)
    assert own.path == tiny
    assert own.vocabulary == info.vocabulary
    assert same.translation == backend.explain(TEXT, Search(), context).translation


def test_a_second_model_that_is_none_harms_nothing(
    backend: TorchBackend, context: Context, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no model")
    with pytest.raises(UserError, match="broken"):
        backend.compare(broken, TEXT, Search(), context)
    assert backend.explain(TEXT, Search(), context).text == TEXT


def test_products_are_measured_once_and_after_the_first_picture(
    tiny: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    monkeypatch.setattr(
        TorchBackend, "measure_products", lambda *_: order.append("measured"), raising=True
    )
    engine = Engine(TorchBackend(threads=1))
    engine.explained.connect(lambda _: order.append("explained"))
    try:
        with qtbot.waitSignal(engine.loaded, timeout=60_000):
            engine.load(tiny)
        for _ in range(2):
            with qtbot.waitSignal(engine.explained, timeout=60_000):
                engine.explain(TEXT, Search())
            qtbot.waitUntil(lambda: "measured" in order, timeout=60_000)
    finally:
        engine.close()
    assert order == ["explained", "measured", "explained"]
