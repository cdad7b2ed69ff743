"""transformer-viz trace: save the attention of every layer and head on one sentence as .npz."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.bundled import model_path
from core.commands.ablate import add_switch_arguments, chosen_switches
from core.commands.translate import add_search_arguments, chosen_search
from core.heads import read_gate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.transformer import Transformer
    from core.text.tokenizer import Tokenizer
    from core.trace.trace import Trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        metavar="TEXT",
        help="the sentence to translate; a text of several is translated as one",
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="OUT.npz", help="the trace file to write"
    )
    add_search_arguments(parser)
    parser.add_argument(
        "--target", metavar="T", help="a translation to record instead of the model's own"
    )
    parser.add_argument(
        "--head",
        metavar="HEAD[=GATE]",
        action="append",
        default=[],
        help="switch a head off, multiply its output by the number GATE, or make it even, as "
        "ablate does; can be repeated",
    )
    add_switch_arguments(parser)
    parser.add_argument(
        "--states",
        action="store_true",
        help="also save what each sub-layer reads, adds and leaves, and the layer lens",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for an unreadable model, an empty text or a bad OUT."""
    from core.checkpoints.opening import open_model
    from core.model.gates import Gates, gated
    from core.model.switched import switched
    from core.trace.npz import save_npz
    from core.trace.record import trace_text

    checkpoint = open_model(model_path(args.model))
    search = chosen_search(args, checkpoint.provenance)
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    gates = Gates.of(checkpoint.config, dict(map(read_gate, args.head)))
    with gated(model, gates), switched(model, chosen_switches(args)):
        trace = trace_text(model, tokenizer, args.text, target=args.target, search=search)
        more = _states(model, tokenizer, trace) if args.states else None
    save_npz(trace, args.out, more=more)
    print(f"{trace.translation}", file=sys.stderr)
    print(args.out)
    return 0


def _states(model: Transformer, tokenizer: Tokenizer, trace: Trace) -> dict[str, NDArray[Any]]:
    """The states and the layer lens as arrays (docs/traces.md)."""
    import numpy as np

    from core.analysis.readout import layer_lens
    from core.trace.record_states import record_states
    from core.trace.states import state_arrays

    states = record_states(model, trace)
    lens = layer_lens(model, trace, states)
    words = [tokenizer.target.token(id) for id in lens.ids.ravel().tolist()]
    pieces = np.array([word.surface or word.piece for word in words], dtype=np.str_)
    return {
        **state_arrays(states),
        "lens_tokens": pieces.reshape(lens.ids.shape),
        "lens_probabilities": lens.probabilities,
        "lens_leads": lens.leads(),
    }
