"""transformer-viz words: count the words of a run's training text for a model file.

The window marks words that a model rarely saw. Runs count them by themselves; this command does it
for a model whose run began before they were counted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.bundled import model_path
from core.checkpoints.kinds import Kind, recognise
from core.counted import counted
from core.errors import UserError
from core.text.seen_words import OFTEN, SeenWords


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run_folder", metavar="RUN", type=Path, help="the run folder; its data files must be there"
    )
    parser.add_argument(
        "model", metavar="MODEL", help="the model file of this run in which to save the counts"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError if a file cannot be read, or is not a model of the run."""
    from core.checkpoints.header import read_header
    from core.checkpoints.native import add_provenance
    from core.training.preparation import unwatched
    from core.training.run_folder import RunFolder
    from core.training.survey import take_survey

    path = model_path(args.model)
    if recognise(path)[0] is not Kind.NATIVE:
        raise UserError(
            f"{path} was not trained by this program; choose a model of {args.run_folder}."
        )
    config, about = RunFolder.open(args.run_folder).read_record()
    if read_header(path).config != config.model:
        raise UserError(
            f"{path} does not have the shape of the models of {args.run_folder}; choose one of "
            "them."
        )
    survey = take_survey(config.training, unwatched)
    if survey.checksum != about.get("data_checksum", survey.checksum):
        print(
            f"The data of {args.run_folder} has changed since the run began; the words are those "
            "of the data as it is now.",
            file=sys.stderr,
        )
    add_provenance(path, survey.seen_words)
    seen = SeenWords.of_model(survey.seen_words)
    listed, rare = (len(seen.known), len(seen.rare)) if seen else (0, 0)
    print(
        f"{path}: {counted(listed, 'word')}, {rare:,} of them seen fewer than {OFTEN} times",
        file=sys.stderr,
    )
    return 0
