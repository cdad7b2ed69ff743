"""transformer-viz estimate: what a run would need, before it is started."""

from __future__ import annotations

import argparse
import json

from core.commands.train import add_settings, configuration
from core.training.estimate import memory_bytes, parameter_count

WORTH_IT = 1.1
"""Times as fast as float32 that bf16 has to be to be mentioned."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the command; raises UserError for wrong settings and for data that cannot be read."""
    from core.training.trial import try_run

    config = configuration(args)
    trial = try_run(config)
    parameters, memory = parameter_count(config.model), memory_bytes(config)
    seconds = trial.seconds(config.training)
    about = {
        "parameters": parameters,
        "bytes": memory,
        "seconds_per_update": trial.seconds_per_update,
        "seconds_per_validation": trial.seconds_per_validation,
        "seconds_per_checkpoint": trial.seconds_per_checkpoint,
        "seconds": seconds,
        "updates_per_epoch": trial.updates_per_epoch,
        "bf16_speedup": trial.bf16_speedup,
        "device": trial.device,
        "data": trial.data,
    }
    if args.json:
        print(json.dumps(about))
    else:
        print(f"parameters         {parameters:,}")
        print(f"memory             about {memory / 1e9:,.2f} GB")
        print(f"time               about {seconds / 3600:,.2f} h on {trial.device}")
        print(f"  of an update     {trial.seconds_per_update:,.3f} s")
        print(f"  of a validation  {trial.seconds_per_validation:,.3f} s")
        print(f"  of a checkpoint  {trial.seconds_per_checkpoint:,.3f} s")
        print(f"updates an epoch   {trial.updates_per_epoch:,}")
        if trial.bf16_speedup is not None and trial.bf16_speedup >= WORTH_IT:
            print(f"with bf16          {trial.bf16_speedup:.1f} times as fast (--precision bf16)")
        for line in trial.data:
            print(line)
    return 0
