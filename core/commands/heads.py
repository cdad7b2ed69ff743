"""transformer-viz heads: what every head does over a corpus, in numbers and in roles."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.commands.ablate import add_sample_arguments
from core.files import atomic_write_text
from core.heads import AttentionKind, Head

if TYPE_CHECKING:
    from core.analysis.evidence import Evidence
    from core.analysis.heads import MeasuredHead
    from core.analysis.importance import Importance
    from core.analysis.places import Places
    from core.analysis.roles import Role


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="M", help="a file or a bundled model (default: the first)"
    )
    add_sample_arguments(parser)
    parser.add_argument(
        "--importance",
        action="store_true",
        help="also how much the loss hangs on each head (Michel et al. 2019)",
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N or mps")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write a table, a head a row")
    parser.add_argument(
        "--json",
        action="store_true",
        help="the result as one JSON object, with the sentences that show each role best and "
        "worst, and progress as JSON lines",
    )


def run(args: argparse.Namespace) -> int:
    """Raises UserError if the model or the corpus cannot be used, or the table not written."""
    from core.analysis.alignment import alignment_errors
    from core.analysis.forced import forced_pairs, token_counts
    from core.analysis.heads import measure_heads
    from core.analysis.importance import importance
    from core.analysis.places import Places
    from core.analysis.sample import read_sample
    from core.checkpoints.opening import open_model
    from core.commands.counting import Counting
    from core.device import choose_device

    path = model_path(args.model)
    checkpoint = open_model(path, choose_device(args.device))
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    sample = read_sample(args.corpus, args.sentences, seed=args.seed)
    translating = 0 if sample.references else len(sample.sources)
    # Measuring takes two passes, aligning one, importance a pass forth and back.
    passes = 2 + bool(sample.gold) + 2 * args.importance
    total = translating + passes * len(sample.sources)
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
    aligned: list[dict[str, Any]] = []
    if forced.gold:
        found = alignment_errors(
            model, tokenizer, forced.gold, progress=lambda done: tell(measured + done)
        )
        aligned = [errors.to_dict() for errors in found.values()]
        measured += len(pairs)
    weighed = None
    if args.importance:
        ids = [(pair.source_ids, pair.target_ids) for pair in pairs]
        weighed = importance(model, ids, progress=lambda done: tell(measured + 2 * done))
    tell(total)
    places = Places(tokenizer)
    rows = [_head(one, weighed, places) for one in heads]
    if args.csv:
        atomic_write_text(args.csv, _csv(rows))
    about = {
        "name": sample.name,
        "target": "the model's own greedy translation" if translating else "reference",
        "sentences": len(pairs),
        "left_out": forced.left_out,
    }
    if sample.gold:
        about["seed"] = args.seed
    if args.json:
        result = {"model": path.stem, "corpus": about, "heads": rows}
        print(json.dumps(result | ({"alignment": aligned} if aligned else {}), ensure_ascii=False))
    else:
        print("\n\n".join([_table(rows, about), *map(_aligned, aligned)]))
    return 0


def _head(measured: MeasuredHead, weighed: Importance | None, places: Places) -> dict[str, Any]:
    """As in the JSON; a number that this kind of attention does not have is left out."""
    kind, layer, head = measured.head
    statistics = dataclasses.asdict(measured.statistics)
    shares = statistics.pop("offset_shares")
    if shares is not None:
        statistics["offset_shares"] = dict(zip(("-1", "0", "1"), shares, strict=True))
    found: dict[str, Any] = {
        "kind": kind.value,
        "layer": layer,
        "head": head,
        "statistics": {name: value for name, value in statistics.items() if value is not None},
        "roles": [_role(role, kind, places) for role in measured.roles],
    }
    if weighed is not None:
        found["importance"] = float(weighed[kind][layer, head])
    return found


def _role(role: Role, kind: AttentionKind, places: Places) -> dict[str, Any]:
    reading = str(role.details.get("reading", ""))

    def shown(one: Evidence) -> dict[str, Any]:
        """With the words that its cell is about, in characters; null for special tokens."""
        return dataclasses.asdict(one) | {
            "query_span": places.query(one, kind, reading),
            "key_span": places.key(one, kind),
        }

    values = {name: getattr(role, name) for name in ("role", "score", "baseline", "threshold")}
    return {
        **values,
        "passed": role.passed,
        **role.details,
        "best": [shown(one) for one in role.best],
        "worst": [shown(one) for one in role.worst],
    }


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    """A head a row: the roles it has, its numbers, and its score for every role."""
    table = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in table for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    statistics = dict(row["statistics"])
    statistics.pop("distance_histogram", None)
    shares = statistics.pop("offset_shares", {})
    flat = {name: row[name] for name in ("kind", "layer", "head")}
    flat["roles"] = " ".join(_passed(row))
    if "importance" in row:
        flat["importance"] = row["importance"]
    flat |= statistics | {f"offset {offset}": share for offset, share in shares.items()}
    for role in row["roles"]:
        sort, bracket, offset = role["role"].partition("(")
        if bracket:
            flat["positional offset"] = int(offset.removesuffix(")"))
        flat[f"{sort} score"] = role["score"]
    return flat


def _passed(row: dict[str, Any]) -> list[str]:
    return [role["role"] for role in row["roles"] if role["passed"]]


def _table(rows: Sequence[dict[str, Any]], about: dict[str, Any]) -> str:
    """For people: a head a line with what it passes, then the roles that no head passes."""
    lines = [
        f"{about['sentences']:,} sentences of {about['name']}, decoder fed {about['target']}",
        *([f"{about['left_out']:,} left out, empty or too long"] if about["left_out"] else []),
        "",
        f"{'head':<20}{'confid.':>8}{'entropy':>8}{'specials':>9}{'distance':>9}"
        f"{'import.' if 'importance' in rows[0] else '':>9}  roles: score (threshold)",
    ]
    for row in rows:
        of_head = row["statistics"]
        head = Head(row["kind"], row["layer"], row["head"])
        distance = f"{of_head['mean_distance']:.1f}" if "mean_distance" in of_head else ""
        weighed = f"{row['importance']:.4f}" if "importance" in row else ""
        passed = ", ".join(
            f"{role['role']} {role['score']:.2f} ({role['threshold']:.2f})"
            for role in row["roles"]
            if role["passed"]
        )
        lines.append(
            f"{'.'.join(map(str, head)):<20}{of_head['confidence']:>8.2f}{of_head['entropy']:>8.2f}"
            f"{of_head['special_share']:>9.2f}{distance:>9}{weighed:>9}  {passed}".rstrip()
        )
    measured = dict.fromkeys(
        role["role"].partition("(")[0] for row in rows for role in row["roles"]
    )
    held = {name.partition("(")[0] for row in rows for name in _passed(row)}
    if missing := [name for name in measured if name not in held]:
        lines += ["", f"no head: {', '.join(missing)}"]
    return "\n".join(lines)


def _aligned(errors: dict[str, Any]) -> str:
    """A line for people: the best head, then the mean map of each layer."""
    best = errors["best"]
    layers = ", ".join("–" if error is None else f"{error:.2f}" for error in errors["layers"])
    return (
        f"alignment error rate by the word {errors['reading']}: best head "
        f"cross.{best['layer']}.{best['head']} {best['error']:.2f}; layers {layers}; "
        f"diagonal {errors['diagonal']:.2f}"
    )
