"""Opening a model, of whatever kind it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.checkpoints.header import Header, read_header
from core.checkpoints.kinds import Kind, recognise
from core.files import is_folder

if TYPE_CHECKING:
    import torch

    from core.checkpoints.native import Checkpoint


def open_model(
    path: str | Path, device: str | torch.device = "cpu", *, measures: bool = True
) -> Checkpoint:
    """Open a model in evaluation mode and float32: a native one, a MarianMT folder or a Marian
    `.npz`.

    Unless matrix products were chosen before, the fastest are used from now on; ``measures`` says
    whether to measure for it where that was never done (``core.model.measuring``).

    Raises:
        UserError: it is missing, damaged, or of a kind that cannot be opened.
    """
    from core.checkpoints.native import Checkpoint, load_checkpoint
    from core.checkpoints.origin import origin
    from core.model.measuring import use_best
    from core.model.product import chosen
    from core.model.product_choice import UNMEASURED

    kind, path = recognise(path)
    if chosen() is UNMEASURED:
        use_best(measures=measures)
    if kind is Kind.NATIVE:
        return load_checkpoint(path, device)
    if kind is Kind.MARIAN_FOLDER:
        from core.checkpoints.marian_folder import import_marian_folder as read
    else:
        from core.checkpoints.marian_npz import import_marian_npz as read
    checkpoint = read(path)
    checkpoint.model.to(device)
    folder = path if is_folder(path) else path.parent
    about = {**checkpoint.provenance, **origin(folder)}
    return Checkpoint(checkpoint.model, checkpoint.tokenizer, about)


def open_header(path: str | Path) -> Header:
    """Read what a model says about itself; a model of another program must be read whole.

    Raises:
        UserError: as ``open_model``.
    """
    kind, path = recognise(path)
    if kind is Kind.NATIVE:
        return read_header(path)
    checkpoint = open_model(path)
    return Header(checkpoint.config, checkpoint.provenance, checkpoint.model.parameter_count())
