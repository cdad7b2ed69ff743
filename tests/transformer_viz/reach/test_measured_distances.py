"""What comes with the program was measured on the very models that come with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.analysis.distance import distance_probe
from core.bundled import bundled_models, measured_distances
from core.checkpoints.opening import open_model
from core.corpus.grammar.dependencies import DependencyKind
from transformer_viz.engine.checksums import checksum
from transformer_viz.reach.distance_report import ReportStore

TRANSLATORS = [path for path in bundled_models() if path.stem != "parse-en"]


@pytest.mark.parametrize("path", TRANSLATORS, ids=lambda path: path.stem)
def test_each_model_is_measured_beforehand(path: Path) -> None:
    report = ReportStore(None, measured_distances()).read(checksum(path))
    assert report is not None, "see resources/distance/README.md"
    assert len(report.relations) == 9
    known = report.relations[0]
    checkpoint = open_model(path)
    (found,) = distance_probe(
        checkpoint.model,
        checkpoint.tokenizer,
        kinds=[DependencyKind.COREFERENCE],
        distances=[0],
        sentences=known.sentences,
    )
    assert known.name == found.relation
    assert known.model[0] == pytest.approx(found.model[0], abs=0.01)
    for kind, heads in found.heads.items():
        measured = [known.heads[head][0] for head in heads]
        assert measured == pytest.approx(found.accuracy[kind][0].tolist(), abs=0.02)


def test_of_any_other_model_nothing_is_known() -> None:
    assert ReportStore(None, measured_distances()).read("0" * 64) is None
