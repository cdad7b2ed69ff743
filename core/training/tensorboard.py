"""The curves for TensorBoard, which comes with the extra "tensorboard"."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path

from core.errors import UserError
from core.training.events import Event, Finished, Interrupted, Step, Validation


def require_tensorboard() -> None:
    """Raise a UserError if tensorboard is not installed."""
    if find_spec("tensorboard") is None:
        raise UserError(
            "The setting tensorboard needs a package that is not installed; install it with: "
            'pip install "transformer-viz[tensorboard]", or set tensorboard=false.'
        )


class TensorBoard:
    """A listener: steps and validations become scalars named like the keys of metrics.jsonl.

    What an earlier process wrote beyond ``step`` is no longer shown.
    """

    def __init__(self, folder: Path, step: int) -> None:
        """Raises UserError if TensorBoard is not installed."""
        require_tensorboard()
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=step + 1)

    def __call__(self, event: Event) -> None:
        if isinstance(event, Step | Validation):
            for field in dataclasses.fields(event):
                value = getattr(event, field.name)
                if field.name != "step" and isinstance(value, int | float):
                    self._writer.add_scalar(f"{event.name}/{field.name}", value, event.step)
        elif isinstance(event, Finished | Interrupted):
            self._writer.close()
        else:
            self._writer.flush()
