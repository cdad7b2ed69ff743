"""A run folder as the engine writes it, without an engine."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.presets import preset
from core.training.run_folder import RunFolder
from transformer_viz.training.run import Run


def make_run(path: Path) -> Run:
    RunFolder.create(path, preset("tiny"), {})
    return Run(path)


def add_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def log_steps(run: Run, first: int, last: int, every: int = 10) -> None:
    """Lines of metrics.jsonl as of a run that learns, with a validation every 50 steps."""
    for step in range(first, last + 1, every):
        line: dict[str, Any] = {
            "step": step,
            "train_nll": 8 / (1 + step / 20),
            "train_loss": 8 / (1 + step / 20) + 0.1 * (step % 20 == 0),
            "learning_rate": step * 1e-5,
            "gradient_norm": 1.0,
            "position_cosine": 0.3,
            "tokens_per_second": 1000.0 + step,
            "seconds": step / 2,
        }
        lines = [line]
        if step % 50 == 0:
            loss = 7 / (1 + step / 20)
            scores = {"perplexity": 2.718**loss, "bleu": step / 10, "chrf": step / 5}
            lines.append({"step": step, "valid_loss": loss, **scores})
        add_lines(run.folder.metrics, lines)
    run.poll()


def add_samples(run: Run, step: int, *translations: str) -> None:
    """Of "Sentence 1.", "Sentence 2." …, whose references are "Satz 1." …"""
    add_lines(
        run.folder.samples,
        (
            {
                "step": step,
                "source": f"Sentence {number}.",
                "translation": translation,
                "references": [f"Satz {number}."],
            }
            for number, translation in enumerate(translations, start=1)
        ),
    )
    run.poll()
