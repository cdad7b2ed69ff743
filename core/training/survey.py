"""What the files of a run hold, found by streaming them: nothing but validation stays in memory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

from core.corpus.aligned import group_by_source
from core.corpus.spec import files_of, names_of
from core.errors import UserError
from core.files import atomic_write_text, is_file, is_there, read_problem
from core.training.config import GRAMMAR, TrainingConfig
from core.training.held_out import HeldOut, Pair
from core.training.known_words import KnownWords
from core.training.preparation import Watch
from core.training.texts import (
    chunks,
    grammar_sample,
    grammar_validation,
    open_reader,
    training_rows,
    watched,
)

_READ = 1 << 24


_FILE = "survey.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The contents of the files, before there is a tokenizer.

    Attributes:
        made_of: what all this follows from; see ``fingerprint``.
        validation: each source sentence with its references; none of these sources is trained on.
        report: a line for each source of data.
        pairs, characters: for training, of the files alone.
        checksum: of the text for training and validation; data that changed cannot be resumed on.
        seen_words: source words of the training text, as a model's provenance lists them; see
            ``SeenWords.to_provenance``.
    """

    made_of: dict[str, Any]
    validation: dict[str, list[str]]
    report: list[str]
    pairs: int
    characters: int
    checksum: str
    seen_words: dict[str, Any]

    def save(self, folder: Path) -> None:
        """Save the survey; raises UserError if the folder cannot be written."""
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write_text(folder / _FILE, json.dumps(asdict(self), ensure_ascii=False) + "\n")


def take_survey(config: TrainingConfig, watch: Watch) -> Survey:
    """Read the files twice, because what is held out must be known before the rest is counted.

    Raises:
        UserError: a file cannot be read, or nothing is left to train or to validate on.
    """
    made_of = fingerprint(config, watch)
    held_out: list[Pair] = []
    report: list[str] = []
    for spec in config.data:
        if spec == GRAMMAR:
            held_out += grammar_validation(config, watch)
            families = ", ".join(config.grammar_families) or "grammar"
            report.append(f"{families}: {config.grammar_pairs:,} new pairs per epoch")
            continue
        reader = open_reader(spec, config)
        name, taken = reader.report.name, HeldOut(config.validation_pairs)
        for _, source, target in watched(reader, f"reading {name}", watch):
            if not config.validation:
                taken.offer(source, target)
        report.append(reader.report.summary())
        if not config.validation:
            held_out += _require_some(taken.pairs(), name)
    for spec in config.validation:
        reader = open_reader(spec, config)
        held_out += [
            (source, target)
            for _, source, target in watched(reader, f"reading {reader.report.name}", watch)
        ]
        report.append(f"validation on {reader.report.summary()}")
    validation = group_by_source(held_out)

    checksum, pairs, characters, known = 0, 0, 0, KnownWords()
    rows = training_rows(config, validation, watch, "counting words")
    for chunk in chunks(rows):
        text = "".join(side for _, _, *sides in chunk for side in sides)
        checksum = crc32(text.encode(), checksum)
        pairs += len(chunk)
        characters += len(text)
        known.add(source for _, _, source, _ in chunk)
    generated = [sentence.source for sentence in grammar_sample(config)]
    known.add(generated, times=round(config.grammar_pairs / max(1, len(generated))))
    if not pairs and GRAMMAR not in config.data:
        raise UserError(
            f"Apart from the validation sentences, {', '.join(config.data)} leaves nothing to "
            "train on; add more text, or use separate validation files."
        )
    for source, references in validation.items():
        checksum = crc32("".join([source, *references]).encode(), checksum)
    return Survey(
        made_of=made_of,
        validation=validation,
        report=report,
        pairs=pairs,
        characters=characters,
        checksum=f"{checksum:08x}",
        seen_words=known.seen().to_provenance(),
    )


def saved_survey(folder: Path, config: TrainingConfig, watch: Watch) -> Survey | None:
    """Return the survey that ``Survey.save`` wrote, if files, settings and grammar are
    unchanged."""
    try:
        survey = Survey(**json.loads((folder / _FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return survey if survey.made_of == fingerprint(config, watch) else None


def fingerprint(config: TrainingConfig, watch: Watch) -> dict[str, Any]:
    """Return checksums of the files on disk, and the settings that affect the survey.

    Not their folders, so that a run can be moved.

    Raises:
        UserError: a file cannot be read.
    """
    grammar = "".join(chain.from_iterable(grammar_validation(config, watch)))
    return {
        "task": config.task,
        "data": [names_of(spec) for spec in config.data],
        "validation": [names_of(spec) for spec in config.validation],
        "validation_pairs": config.validation_pairs,
        "grammar_pairs": config.grammar_pairs,
        "grammar_families": list(config.grammar_families),
        "grammar_wide": config.grammar_wide,
        "seed": config.seed,
        "grammar": crc32(grammar.encode()),
        "files": [
            _file_checksum(path, watch)
            for spec in (*config.data, *config.validation)
            if spec != GRAMMAR
            for path in files_of(spec)
        ],
    }


def _file_checksum(path: Path, watch: Watch) -> int:
    if is_there(path) and not is_file(path):
        raise UserError(f"{path} cannot be read more than once; use a regular file.")
    checksum = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_READ):
                checksum = crc32(block, checksum)
                if len(block) == _READ:
                    watch(f"checking {path.name}", file.tell(), path.stat().st_size)
    except OSError as error:
        raise UserError(read_problem(path, error)) from error
    return checksum


def _require_some(held_out: list[Pair], name: str) -> list[Pair]:
    if not held_out:
        raise UserError(
            f"{name} has too few sentences to hold some out for validation; add a validation file."
        )
    return held_out
