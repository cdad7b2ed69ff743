"""Which room may open which door: the imports of every module, read by ast, against the plan."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("transformer_viz/**/*.py")])

GROUND = {
    *("core.counted", "core.errors", "core.files", "core.fields", "core.heads", "core.npz_file"),
    *("core.switches", "core.system"),
}
# For each room of core the other rooms that it may import, besides the ground.
CORE_DOORS: dict[str, set[str]] = {
    "core.counted": set(),
    "core.errors": set(),
    "core.files": set(),
    "core.fields": set(),
    "core.heads": set(),
    "core.npz_file": set(),
    "core.save_trace": set(),
    "core.switches": set(),
    "core.system": set(),
    "core.config": set(),
    "core.bundled": set(),
    "core.device": set(),
    "core.huge_pages": set(),
    "core.presets": {"core.config", "core.training.config"},
    "core.text": set(),
    "core.corpus": {"core.text"},
    "core.parsing": {"core.corpus"},
    "core.model": {"core.config", "core.remote.cache"},
    "core.decoding": {"core.config", "core.model", "core.text"},
    "core.trace": {"core.config", "core.decoding", "core.model", "core.text"},
    "core.statistics": {"core.trace.trace"},
    "core.checkpoints": {
        *("core.config", "core.model", "core.text", "core.decoding.config"),
        *("core.remote.cache", "core.remote.hub_cache", "core.remote.licences"),
    },
    "core.remote": set(),
    "core.lab": {"core.model", "core.trace.path_lengths"},
    "core.lessons": {
        *("core.bundled", "core.decoding", "core.model", "core.text", "core.trace"),
        *("core.checkpoints", "core.statistics"),
    },
    "core.evaluation": {
        *("core.config", "core.model", "core.text", "core.corpus", "core.parsing"),
        *("core.decoding", "core.trace", "core.checkpoints"),
    },
    "core.paper": {
        *("core.config", "core.analysis", "core.presets", "core.training.config"),
        *("core.training.schedule", "core.training.run_folder", "core.checkpoints.header"),
    },
    "core.analysis": {
        *("core.config", "core.model", "core.text", "core.corpus"),
        *("core.decoding", "core.trace", "core.statistics", "core.evaluation"),
    },
    "core.training": {
        *("core.config", "core.bundled", "core.presets", "core.device"),
        *("core.model", "core.text", "core.corpus", "core.parsing"),
        *("core.decoding", "core.trace", "core.statistics", "core.checkpoints"),
        "core.evaluation",
    },
}
# The command line stands before all rooms.
CORE_ENTRANCES = {"core.cli", "core.commands", "core.__main__"}

# What any module of the app may know of core: values, never a model.
APP_VALUES = {
    *("core.counted", "core.errors", "core.files", "core.config", "core.bundled", "core.heads"),
    *("core.decoding.beam_tree", "core.decoding.penalty"),
    *("core.checkpoints.kinds", "core.checkpoints.provenance"),
    "core.lab.report",
    *("core.model.mixers.kinds", "core.model.product_choice"),
    *("core.switches", "core.system"),
    *("core.presets", "core.training.config", "core.training.estimate", "core.training.events"),
    *("core.training.probe", "core.training.probe_log", "core.training.run_folder"),
    *("core.training.jsonl", "core.training.lines"),
    *("core.paper.recipe", "core.paper.systems", "core.paper.training_cost"),
    *("core.paper.scaled", "core.paper.study", "core.paper.variations"),
    "core.training.schedule",
    "core.analysis.head_csv",
    *("core.corpus.grammar.registry", "core.corpus.spec"),
    *("core.remote.cache", "core.remote.hub_cache", "core.remote.pairs"),
    *("core.analysis.composition", "core.analysis.contributions", "core.analysis.interval"),
    *("core.analysis.boxes", "core.analysis.direct", "core.analysis.lens", "core.analysis.work"),
    "core.analysis.verdict",
    *("core.lessons.lesson", "core.lessons.library", "core.lessons.measures"),
    "core.lessons.question",
    *("core.parsing.linear", "core.parsing.score", "core.parsing.trees"),
    *("core.statistics.leaks", "core.statistics.registry", "core.statistics.rows"),
    *(
        "core.text.passage",
        "core.text.sentences",
        "core.text.tokens",
        "core.text.words",
        "core.text.function_words",
        "core.text.seen_words",
        "core.trace.doubts",
        "core.trace.trace",
        "core.trace.heaviest",
        "core.trace.alignment",
        "core.trace.difference",
        "core.trace.head_map",
        "core.trace.npz",
        "core.trace.padding",
        "core.trace.path_lengths",
        "core.trace.pooled",
        "core.trace.positions",
        "core.trace.reach",
        "core.trace.variant",
        "core.trace.row_steps",
        "core.trace.score_spread",
        "core.trace.sinks",
        "core.trace.states",
    ),
}
# The modules that go further, and how far.
APP_GUESTS = {
    "transformer_viz.engine.backend": set(CORE_DOORS) - {"core.training"},
    "transformer_viz.startup.launch": {
        *("core.bundled", "core.cli", "core.files", "core.huge_pages", "core.lessons.library"),
    },
    "transformer_viz.desktop.man_page": {"core.cli"},
}
# The rooms of the app, the ground first. A module imports from its own room and from earlier lines.
FLOORS = (
    {"state"},
    {"drawing"},
    {"engine"},
    {"words"},
    {"widgets"},
    {
        *("heatmap", "heads_map", "links", "scores", "positions", "decoding", "compare", "reach"),
        *("architecture", "gates", "heads", "training", "hub", "export", "translation"),
        *("lessons", "by_hand", "stream", "paper", "layers", "tree"),
    },
    {"shell"},
    {"startup"},
    {"desktop"},
)
QT = {"PySide6", "shiboken6", "pyqtgraph"}


def imports(source: str, module: str, *, is_package: bool = False) -> Iterator[str]:
    """Every dotted name that the source imports, wherever in the file the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                parents = parents[: len(parents) - node.level + is_package]
                base = ".".join([*parents, *filter(None, [base])])
            # "from core import cli" names a module, "from core.cli import main" does not: a
            # name below a module is harmless to the prefix tests.
            yield from (f"{base}.{alias.name}" for alias in node.names)


def dotted_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    is_package = path.name == "__init__.py"
    source = path.read_text(encoding="utf-8")
    return set(imports(source, dotted_name(path), is_package=is_package))


def inside(name: str, rooms: set[str]) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


def modules(package: str) -> list[object]:
    found = [path for path in MODULES if inside(dotted_name(path), {package})]
    return [pytest.param(path, id=dotted_name(path)) for path in found]


def room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def app_imports(path: Path) -> set[str]:
    """The modules of the app that this one imports."""
    return {name for name in imports_of(path) if inside(name, {"transformer_viz"})}


def floor_of(module: str) -> int:
    """The place of a module's room in the order; the package's own entrance stands last."""
    room = room_of(module).removeprefix("transformer_viz.")
    if room in ("transformer_viz", "__main__"):
        return len(FLOORS)
    return next(place for place, rooms in enumerate(FLOORS) if room in rooms)


def core_imports(path: Path) -> set[str]:
    return {name for name in imports_of(path) if inside(name, {"core"})}


def test_every_room_of_core_is_in_the_plan() -> None:
    rooms = {room_of(dotted_name(path)) for path in MODULES if path.parts[-2:] != ("core",)}
    rooms = {room for room in rooms if room.startswith("core.")}
    assert rooms <= CORE_DOORS.keys() | CORE_ENTRANCES


@pytest.mark.parametrize("path", modules("core"))
def test_core_knows_neither_app_nor_qt(path: Path) -> None:
    assert not {name for name in imports_of(path) if inside(name, QT | {"transformer_viz"})}


@pytest.mark.parametrize("path", modules("core"))
def test_core_keeps_to_its_doors(path: Path) -> None:
    room = room_of(dotted_name(path))
    if room in CORE_ENTRANCES or room == "core":
        return
    allowed = {room} | GROUND | CORE_DOORS[room]
    assert not {name for name in core_imports(path) if not inside(name, allowed)}


@pytest.mark.parametrize("path", modules("transformer_viz"))
def test_the_app_touches_core_through_values_and_the_engine(path: Path) -> None:
    allowed = APP_VALUES | APP_GUESTS.get(dotted_name(path), set())
    assert not {name for name in core_imports(path) if not inside(name, allowed)}


@pytest.mark.parametrize("path", modules("transformer_viz"))
def test_only_the_engine_knows_torch(path: Path) -> None:
    if dotted_name(path) != "transformer_viz.engine.backend":
        assert not {name for name in imports_of(path) if inside(name, {"torch"})}


@pytest.mark.parametrize("path", modules("transformer_viz"))
def test_the_app_imports_only_what_stands_before(path: Path) -> None:
    module = dotted_name(path)
    room, floor = room_of(module), floor_of(module)
    others = {name for name in app_imports(path) if room_of(name) != room}
    assert not {name for name in others if floor_of(name) >= floor}


def test_every_file_of_the_app_is_in_a_room() -> None:
    loose = {path.name for path in (ROOT / "transformer_viz").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize(
    "path", [*modules("transformer_viz.state"), *modules("transformer_viz.drawing")]
)
def test_values_and_pictures_need_no_widget(path: Path) -> None:
    assert not {name for name in imports_of(path) if inside(name, {"PySide6.QtWidgets"})}


@pytest.mark.parametrize("path", [pytest.param(path, id=dotted_name(path)) for path in MODULES])
def test_nothing_is_pickled(path: Path) -> None:
    pickles = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    assert not {name for name in imports_of(path) if inside(name, pickles)}


@pytest.mark.parametrize(
    ("source", "module", "found"),
    [
        ("import core.model.layers as layers", "core.text.a", "core.model.layers"),
        ("from core import cli", "core.text.a", "core.cli"),
        ("from ..model import layers", "core.text.a", "core.model.layers"),
        ("from . import tokens", "core.text.a", "core.text.tokens"),
        ("def f():\n    from core.model.layers import Layer", "core.a", "core.model.layers.Layer"),
        ("if TYPE_CHECKING:\n    import torch.nn", "core.a", "torch.nn"),
    ],
)
def test_no_way_of_importing_escapes(source: str, module: str, found: str) -> None:
    assert set(imports(source, module)) == {found}


def test_a_relative_import_of_a_package_starts_at_the_package() -> None:
    assert set(imports("from . import layers", "core.model", is_package=True)) == {
        "core.model.layers"
    }
