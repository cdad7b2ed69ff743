"""transformer-viz layers: measure the kinds of layers that compete with self-attention."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.counted import counted
from core.fields import require

if TYPE_CHECKING:
    from core.lab.report import LayerCost, LayersReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from core.model.mixers.kinds import MIXERS, MixerShape

    usual = MixerShape()
    parser.add_argument(
        "--kinds",
        nargs="+",
        metavar="KIND",
        default=[],
        help=f"which to measure (default: all): {', '.join(kind.name for kind in MIXERS)}",
    )
    parser.add_argument(
        "--longest", type=int, default=1024, metavar="N", help="measure n = 16 … N (default: 1024)"
    )
    for option, field, what in (
        ("--width", "d_model", "width d of a layer"),
        ("--heads", "heads", "heads of attention"),
        ("--kernel", "kernel", "width k of a convolution"),
        ("--neighbours", "neighbours", "positions r that restricted attention sees"),
        ("--state", "state", "numbers N in the state of each channel of S4D and Mamba"),
    ):
        default = getattr(usual, field)
        parser.add_argument(
            option, type=int, dest=field, default=default, help=f"{what} (default: {default})"
        )
    parser.add_argument(
        "--causal",
        action="store_true",
        help="as in a decoder; kinds without such a form are skipped",
    )
    parser.add_argument(
        "--path-positions",
        type=int,
        default=64,
        metavar="N",
        help="positions to connect when path lengths are measured (default: 64)",
    )
    parser.add_argument(
        "--threads", type=int, default=0, help="number of threads (default: all cores)"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as one JSON object, and progress as JSON lines on stderr",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for unknown kinds and sizes that are impossible."""
    from core.lab.report import LayersReport
    from core.model.mixers.kinds import MIXERS, MixerShape, mixer_kind

    require(2 <= args.path_positions <= 128, "--path-positions", args.path_positions, "2 to 128")
    require(32 <= args.longest <= 65_536, "--longest", args.longest, "32 to 65536")
    require(args.threads >= 0, "--threads", args.threads, "0 or more")
    sizes = ("d_model", "heads", "kernel", "neighbours", "state")
    shape = MixerShape(**{name: getattr(args, name) for name in sizes})
    kinds = [mixer_kind(name) for name in args.kinds] or [
        kind for kind in MIXERS if not (args.causal and kind.both_directions)
    ]

    import torch

    from core.commands.counting import Counting
    from core.device import available_threads
    from core.lab.measuring import lengths_up_to, measured
    from core.model.processor import processor

    threads = args.threads or available_threads()
    torch.set_num_threads(threads)
    lengths = lengths_up_to(args.longest)
    each = len(lengths) + 1
    counting = Counting(len(kinds) * each, sys.stderr, as_json=args.json)
    layers: list[LayerCost] = []

    def report() -> LayersReport:
        about = (threads, processor(), args.path_positions)
        return LayersReport(shape, args.causal, *about, tuple(layers))

    for number, kind in enumerate(kinds):
        costs = measured(
            kind, shape, lengths, causal=args.causal, path_positions=args.path_positions
        )
        known = next(costs)
        for done, cost in enumerate(costs, 1):
            counting(number * each + done)
            known = cost
        layers.append(known)
        if args.json:
            print(report().to_json(), file=sys.stderr, flush=True)
    counting(len(kinds) * each)
    print(report().to_json() if args.json else "\n".join(table(report())))
    return 0


def table(report: LayersReport) -> Iterator[str]:
    """Yield the report as lines of text."""
    shape = report.shape
    form = "causal" if report.causal else "both directions"
    yield (
        f"One layer, d = {shape.d_model}, {shape.heads} heads, k = {shape.kernel}, "
        f"r = {shape.neighbours}, N = {shape.state}, {form}; "
        f"{report.processor}, {counted(report.threads, 'thread')}"
    )
    yield ""
    yield (
        f"{'kind':<30}{'weights':>10}{'n':>7}{'multiply-adds':>17}{'sequential':>11}"
        f"{'forward':>11}{'training':>11}{'a token':>10}{'memory':>11}"
    )
    for layer in report.layers:
        for at, cost in enumerate(layer.costs):
            name = f"{layer.title:<30}{layer.parameters:>10,}" if at == 0 else " " * 40
            step = "–" if cost.step_seconds is None else f"{1e3 * cost.step_seconds:.2f} ms"
            yield (
                f"{name}{cost.n:>7,}{cost.multiply_adds:>17,}{cost.sequential:>11,}"
                f"{1e3 * cost.forward_seconds:>8.2f} ms{1e3 * cost.training_seconds:>8.2f} ms"
                f"{step:>10}{cost.training_bytes / 1e6:>8.1f} MB"
            )
        if layer.left_out:
            yield f"{'':<40}  {layer.left_out}"
    yield ""
    yield (
        f"{'kind':<30}{'order':>16}{'ops ~':>9}{'forward ~':>11}{'training ~':>11}{'memory ~':>10}"
        f"{'path':>7}{'formula':>9}{'order':>8}"
    )
    for layer in report.layers:
        powers = ("multiply_adds", "forward_seconds", "training_seconds", "training_bytes")
        cells = (_power(layer, name) for name in powers)
        columns = "".join(
            f"{cell:>{width}}" for cell, width in zip(cells, (9, 11, 11, 10), strict=True)
        )
        yield (
            f"{layer.title:<30}{layer.order:>16}{columns}{_steps(layer.path):>7}"
            f"{_steps(layer.path_formula):>9}{layer.path_order:>8}"
        )
    yield ""
    yield (
        "~ n^p: the power of n that fits the four longest rows. Path: the layers, or updates of a "
        f"state, that connect all of {report.path_positions} positions, measured by gradients; "
        "beside it, by formula. Memory: the most that a training step holds."
    )


def _power(layer: LayerCost, quantity: str) -> str:
    power = layer.slope(quantity)
    return "–" if power is None else f"n^{power:.2f}"


def _steps(path: int | None) -> str:
    return "never" if path is None else f"{path:,}"
