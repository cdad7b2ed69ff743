"""transformer-viz heads: measure what every head does over a corpus, in numbers and roles."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.analysis.head_csv import HeadRow, Verdict, heads_csv
from core.bundled import model_path
from core.commands.ablate import add_sample_arguments, read_reported
from core.counted import counted
from core.files import atomic_write_text
from core.heads import AttentionKind, Head
from core.statistics.registry import EFFECT, IMPORTANCE, Statistic, statistic

if TYPE_CHECKING:
    from core.analysis.alignment import AlignmentErrors
    from core.analysis.evidence import Evidence
    from core.analysis.heads import MeasuredHead
    from core.analysis.places import Places
    from core.analysis.roles import Role


EFFECT_SENTENCES = 200
"""The effect takes a pass without each head, so it is measured on few sentences."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a model file or a bundled model (default: the first)"
    )
    add_sample_arguments(
        parser, more_corpora=", or a plain text, which the model translates itself"
    )
    parser.add_argument(
        "--importance",
        action="store_true",
        help="also measure how strongly the loss depends on each head (Michel et al. 2019), and "
        "its effect: by how much the loss rises without it, on the first "
        f"{EFFECT_SENTENCES} sentences",
    )
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:N or mps")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="also write a table with one row per head"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON object, with the sentences that show each role best and "
        "worst, and progress as JSON lines on stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an unusable model or corpus, or an unwritable table."""
    from core.analysis.alignment import alignment_errors
    from core.analysis.forced import forced_pairs, token_counts
    from core.analysis.heads import measure_heads
    from core.analysis.importance import effects, importance
    from core.analysis.places import Places
    from core.checkpoints.opening import open_model
    from core.checkpoints.provenance import require_translator
    from core.commands.counting import Counting
    from core.device import choose_device

    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    if args.corpus == "grammar":
        require_translator(checkpoint.provenance, path.name)
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    sample = read_reported(args)
    translating = 0 if sample.references else len(sample.sources)
    every_head = checkpoint.config.every_head()
    aligns = bool(sample.gold) and any(head.kind is AttentionKind.CROSS for head in every_head)
    # Measuring takes two passes, aligning one, importance a pass forth and back, and the effect of
    # each head one over a few.
    count = len(sample.sources)
    few = min(count, EFFECT_SENTENCES) * len(every_head)
    passes = 2 + aligns + 2 * args.importance
    total = translating + passes * count + few * args.importance
    tell = Counting(total, sys.stderr, as_json=args.json)
    forced = forced_pairs(model, tokenizer, sample, progress=tell)
    pairs = forced.pairs
    heads = measure_heads(
        model,
        tokenizer,
        pairs,
        counts=token_counts(tokenizer, args.corpus),
        gold=forced.gold,
        progress=lambda done: tell(translating + done),
    )
    measured = translating + 2 * len(pairs)
    aligned: list[AlignmentErrors] = []
    if aligns:
        found = alignment_errors(
            model, tokenizer, forced.gold, progress=lambda done: tell(measured + done)
        )
        aligned = list(found.values())
        measured += len(pairs)
    weighed, gained = None, None
    if args.importance:
        ids = [(pair.source_ids, pair.target_ids) for pair in pairs]
        weighed = importance(model, ids, progress=lambda done: tell(measured + 2 * done))
        measured += 2 * len(pairs)
        gained = effects(model, ids[:EFFECT_SENTENCES], progress=lambda done: tell(measured + done))
    tell(total)
    places = Places(tokenizer)
    errors = _errors_of_heads(aligned)
    rows = [_head(one, errors[one.head], places) for one in heads]
    if weighed is not None and gained is not None:
        for row in rows:
            kind, layer, number = head = _head_of(row)
            row |= {"importance": float(weighed[kind][layer, number]), "effect": gained[head]}
    if args.csv:
        atomic_write_text(args.csv, heads_csv([_csv_row(row) for row in rows]))
    about = {
        "name": sample.name,
        "target": "the model's own greedy translation" if translating else "reference",
        "sentences": len(pairs),
        "left_out": forced.left_out,
    }
    if sample.read:
        about["read"] = sample.read
    if sample.gold:
        about["seed"] = args.seed
    if args.json:
        result = {"model": path.stem, "corpus": about, "heads": rows}
        if aligned:
            result["alignment"] = [one.to_dict() for one in aligned]
        print(json.dumps(result, ensure_ascii=False))
    else:
        print("\n\n".join([_table(rows, about), *map(_aligned, aligned)]))
    return 0


def _errors_of_heads(aligned: Sequence[AlignmentErrors]) -> Mapping[Head, dict[str, float]]:
    """Of each head of cross-attention one error by each reading of a row."""
    found: dict[Head, dict[str, float]] = defaultdict(dict)
    for errors in aligned:
        for head, error in zip(errors.heads, errors.of_heads, strict=True):
            found[head][f"alignment_error_{errors.reading.value}"] = float(error)
    return found


def _head(
    measured: MeasuredHead,
    errors: dict[str, float],
    places: Places,
) -> dict[str, Any]:
    """Return a head as in the JSON, without numbers that this kind of attention does not have."""
    kind, layer, head = measured.head
    statistics: dict[str, Any] = {**measured.statistics.values, **errors}
    if measured.statistics.distance_histogram is not None:
        statistics["distance_histogram"] = measured.statistics.distance_histogram
    found: dict[str, Any] = {
        "name": measured.head.name,
        "kind": kind.value,
        "layer": layer,
        "head": head,
        "statistics": statistics,
        "roles": [_role(role, kind, places) for role in measured.roles],
    }
    return found


def _role(role: Role, kind: AttentionKind, places: Places) -> dict[str, Any]:
    reading = str(role.details.get("reading", ""))

    def shown(one: Evidence) -> dict[str, Any]:
        """Add the characters of the words that the cell is about; null for special tokens."""
        return asdict(one) | {
            "query_span": places.query(one, kind, reading),
            "key_span": places.key(one, kind),
        }

    names = ("role", "score", "baseline", "threshold", "cases", "lower", "weight", "passed")
    return {
        **{name: getattr(role, name) for name in names},
        **({"explained_by": role.explained_by} if role.explained_by else {}),
        **role.details,
        "best": [shown(one) for one in role.best],
        "worst": [shown(one) for one in role.worst],
    }


def _csv_row(row: Mapping[str, Any]) -> HeadRow:
    """Return a row whose statistics include importance and effect."""
    weighed = {one.id: row[one.id] for one in (IMPORTANCE, EFFECT) if one.id in row}
    statistics = weighed | row["statistics"]
    statistics.pop("distance_histogram", None)
    verdicts = [Verdict(*(role[name] for name in Verdict._fields)) for role in row["roles"]]
    return HeadRow(_head_of(row), statistics, verdicts)


def _head_of(row: Mapping[str, Any]) -> Head:
    return Head(AttentionKind(row["kind"]), row["layer"], row["head"])


def _passed(row: dict[str, Any]) -> list[str]:
    return [role["role"] for role in row["roles"] if role["passed"]]


def _table(rows: Sequence[dict[str, Any]], about: dict[str, Any]) -> str:
    """Format one line per head with the roles it passes, then the roles that no head passes."""
    lines = [
        f"{counted(about['sentences'], 'sentence')} of {about['name']}, decoder input: "
        f"{about['target']}",
        *([f"{about['left_out']:,} skipped, empty or too long"] if about["left_out"] else []),
        "",
    ]
    columns = [one for one in _COLUMNS if any(_value(one, row) is not None for row in rows)]
    titles = "".join(f"{one.short:>{_width(one)}}" for one in columns)
    lines.append(f"{'head':<20}{titles}  roles: score, mean weight (threshold)")
    for row in rows:
        numbers = "".join(_cell(one, row) for one in columns)
        passed = ", ".join(
            f"{role['role']} {_score(role)} ({role['threshold']:.2f})"
            for role in row["roles"]
            if role["passed"]
        )
        lines.append(f"{_head_of(row).name:<20}{numbers}  {passed}".rstrip())
    measured = dict.fromkeys(
        role["role"].partition("(")[0] for row in rows for role in row["roles"]
    )
    held = {name.partition("(")[0] for row in rows for name in _passed(row)}
    if missing := [name for name in measured if name not in held]:
        lines += ["", f"roles of no head: {', '.join(missing)}"]
    return "\n".join(lines)


def _score(role: Mapping[str, Any]) -> str:
    weight = role["weight"]
    return f"{role['score']:.2f}" + ("" if weight is None else f", {weight:.2f}")


_COLUMNS = tuple(
    found
    for id in (
        *("confidence", "entropy", "special", "mean_distance"),
        *("alignment_error_fed", "alignment_error_predicted", "importance", "effect"),
    )
    if (found := statistic(id))
)


def _value(one: Statistic, row: Mapping[str, Any]) -> float | None:
    value: float | None = row["statistics"].get(one.id, row.get(one.id))
    return value


def _width(one: Statistic) -> int:
    return max(7, len(one.short)) + 2


def _cell(one: Statistic, row: Mapping[str, Any]) -> str:
    value = _value(one, row)
    return f"{'' if value is None else f'{value:.{one.digits}f}':>{_width(one)}}"


def _aligned(errors: AlignmentErrors) -> str:
    """Format the errors as one line: the best head, then the mean map of each layer."""
    layers = ", ".join("–" if math.isnan(error) else f"{error:.2f}" for error in errors.of_layers)
    return (
        f"alignment error rate for the {errors.reading.value} word: best head "
        f"{errors.heads[errors.best].name} {errors.of_heads[errors.best]:.2f}; layers {layers}; "
        f"diagonal {errors.diagonal:.2f}"
    )
