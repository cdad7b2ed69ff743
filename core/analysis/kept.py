"""What a model makes of a sample with all heads on, kept in a folder from one run to the next.

A file is named after all that its numbers hang on: the model's own numbers and pieces, the
sentences, how they are translated. So nothing in the folder can be out of date.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from core.analysis.ablation import Baseline, Measured, Quality
from core.analysis.sample import Sample
from core.decoding.config import SearchConfig
from core.errors import UserError
from core.evaluation.gold import PairScore
from core.files import atomic_write_text, drop_oldest, write_problem
from core.model.transformer import Transformer
from core.text.tokenizer import Tokenizer

FORMAT = 1
MOST_FILES = 30
_OURS = "[0-9a-f]" * 64 + ".json"  # the folder may hold files of others


class Kept:
    def __init__(
        self,
        folder: Path,
        model: Transformer,
        tokenizer: Tokenizer,
        sample: Sample,
        search: SearchConfig,
        seed: int,
    ) -> None:
        about = (sample.sources, sample.references, bool(sample.gold), asdict(search), seed)
        digest = hashlib.sha256(json.dumps([FORMAT, str(model.device), *about]).encode())
        digest.update(json.dumps(model.config.to_dict()).encode())
        digest.update(tokenizer.identity)
        for parameter in model.parameters():
            digest.update(parameter.detach().float().cpu().numpy().tobytes())
        self._path = folder / f"{digest.hexdigest()}.json"

    def read(self) -> Baseline | None:
        """Return what was kept, or None if there is nothing that can be read."""
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
            quality = values["measured"]["quality"]
            pronoun = quality.pop("pronoun")
            kept = Quality(**quality, pronoun=None if pronoun is None else PairScore(**pronoun))
            translations = tuple(values["measured"]["translations"])
            return Baseline(Measured(translations, kept), values["importance"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def write(self, baseline: Baseline) -> None:
        """Write the measurements and drop the oldest of these files; other files in the folder
        stay.

        Raises:
            UserError: it cannot be written.
        """
        folder = self._path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            atomic_write_text(self._path, json.dumps(asdict(baseline)))
            drop_oldest(folder, _OURS, keep=MOST_FILES)
        except OSError as error:
            raise UserError(write_problem(folder, error)) from error
