"""What `transformer-viz heads --json` answers, made up for a model of 2 layers of 3 heads."""

from __future__ import annotations

from typing import Any

from core.trace.trace import AttentionKind
from transformer_viz.heads.analysis import HeadAnalysis
from transformer_viz.heads.report import Report, read_head
from transformer_viz.heads.store import Measured, Question

LAYERS, HEADS = 2, 3
ROLES = {
    "encoder_self": ("positional(-1)", "sink", "gold:coreference"),
    "decoder_self": ("positional(-1)", "sink"),
    "cross": ("diagonal", "rare-word", "gold:coreference"),
}
ERRORS = {"fed": 0.6, "predicted": 0.1}  # of alignment, in every head
PREVIOUS = ("encoder_self", 0, 1)  # the head that passes as looking at the previous token
SOURCES = [f"The animal number{number} slept ." for number in range(10)]


def answer(*, importance: bool = False) -> dict[str, Any]:
    return {
        "model": "good",
        "corpus": {"name": "grammar", "sentences": 100, "left_out": 0},
        "heads": [
            _head(kind.value, layer, head, importance)
            for kind in AttentionKind
            for layer in range(LAYERS)
            for head in range(HEADS)
        ],
        "alignment": [
            {
                "reading": reading,
                "best": {"layer": 1, "head": 0, "error": error},
                "layers": [0.5, None],
                "diagonal": 0.4,
            }
            for reading, error in ERRORS.items()
        ],
    }


def show_answer(analysis: HeadAnalysis) -> None:
    """As if the heads of the model shown had been measured."""
    heads = [read_head(each) for each in answer()["heads"]]
    report = Report({each.head: each for each in heads})
    analysis.known = Measured(Question(), "2026-01-01", report)
    analysis.changed.emit()


def _head(kind: str, layer: int, head: int, importance: bool) -> dict[str, Any]:
    place = (layer * HEADS + head + 1) / 10
    statistics: dict[str, Any] = {
        "confidence": place,
        "entropy": 10 * place,
        "entropy_normalised": 1 - place,
        "special": 0.5,
        "sink": 0.2,
        "effective_span": 4.25,
    }
    if kind == "cross":
        statistics["diagonal"] = place
        statistics |= {f"alignment_error_{reading}": error for reading, error in ERRORS.items()}
    else:
        statistics["mean_distance"] = 3 * place
        statistics["median_distance"] = 2
        statistics |= {"previous": place, "same": 0.25, "next": 0.125}
        statistics["distance_histogram"] = [0.5, 0.25, 0.25]
    found: dict[str, Any] = {
        "kind": kind,
        "layer": layer,
        "head": head,
        "statistics": statistics,
        "roles": [_role(name, kind, layer, head) for name in ROLES[kind]],
    }
    weighed = {"importance": place / 100, "effect": -place / 1000}
    return found | (weighed if importance else {})


def _role(name: str, kind: str, layer: int, head: int) -> dict[str, Any]:
    passed = (kind, layer, head) == PREVIOUS and name == "positional(-1)"
    gold = {"direction": "forward", "links": 128, "offset": -2}
    if kind == "cross":
        gold["reading"] = "predicted"
    return {
        **(gold if name.startswith("gold:") else {"rows": 300}),
        **({"on": "end"} if name == "sink" else {}),
        "role": name,
        "score": 0.95 if passed else 0.3,
        "baseline": 0.2,
        "threshold": 0.3 if name.startswith("gold:") else 0.9,
        "passed": passed,
        "cases": 128 if name.startswith("gold:") else 300,
        "lower": 0.92 if passed else 0.25,
        "weight": None if name == "sink" else 0.8 if passed else 0.2,
        "best": [_evidence(number, 0.99 - number / 100) for number in range(10)],
        "worst": [_evidence(number, number / 100) for number in range(10)],
    }


def _evidence(number: int, score: float) -> dict[str, Any]:
    source = SOURCES[number]
    return {"source": source, "target": source.upper(), "query": 2, "key": 1, "score": score}
