from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from transformer_viz.training.estimate_box import EstimateBox

FOUND: dict[str, Any] = {
    "seconds": 7200.0,
    "seconds_per_update": 0.25,
    "updates_per_epoch": 40,
    "data": [],
}


@pytest.mark.parametrize("speedup", [None, 0.4, 1.09, 1.94])
def test_bf16_is_mentioned_where_it_is_faster(qtbot: QtBot, speedup: float | None) -> None:
    box = EstimateBox()
    qtbot.addWidget(box)
    box._on_measured(FOUND | {"bf16_speedup": speedup})
    told = "Steps in precision bf16 are 1.9 times as fast here" in box.time.text()
    assert told == (speedup == 1.94)
    assert box.time.text().startswith("about 2 h")
    box._on_measured(FOUND)  # as an earlier version tells it
    assert "bf16" not in box.time.text()
