"""The model file that a run begins with, where it does not begin with new weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from core.bundled import model_path
from core.checkpoints.native import load_checkpoint
from core.errors import UserError
from core.model.transformer import Transformer
from core.text.sentence_pieces import SentencePieceTokenizer
from core.training.config import RunConfig

_OF_ITS_RUN = ("command", "data", "licence", "step", "averaged", "started_from")


@dataclasses.dataclass(frozen=True, slots=True)
class StartingPoint:
    """A trained model of this program whose training goes on with other data or settings.

    Attributes:
        about: what the provenance of the new run says of it: the name of its file, and its own
            command, data, licence and updates as far as it states them.
    """

    model: Transformer
    tokenizer: SentencePieceTokenizer
    about: dict[str, Any]

    @classmethod
    def of(cls, config: RunConfig) -> StartingPoint | None:
        """Load ``start_from``; None if the run begins with new weights.

        Raises:
            UserError: the file cannot be opened, or its vocabulary is not one of this program.
        """
        name = config.training.start_from
        if name is None:
            return None
        checkpoint = load_checkpoint(model_path(name))
        if not isinstance(checkpoint.tokenizer, SentencePieceTokenizer):
            raise UserError(
                f"{name} was imported, and its vocabulary cannot be trained with; start from a "
                "model that this program trained."
            )
        told = {
            key: checkpoint.provenance[key] for key in _OF_ITS_RUN if key in checkpoint.provenance
        }
        return cls(checkpoint.model, checkpoint.tokenizer, {"file": Path(name).name, **told})

    def shaped(self, config: RunConfig) -> RunConfig:
        """Return the configuration with the shape of the model, but its own dropout."""
        shape = dataclasses.replace(self.model.config, dropout=config.model.dropout)
        return RunConfig(model=shape, training=config.training)
