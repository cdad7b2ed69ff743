"""Models as Marian itself writes them: an `.npz` with the vocabularies beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from core.checkpoints.assembly import assemble
from core.checkpoints.native import Checkpoint
from core.checkpoints.npz_options import (
    Options,
    is_set,
    model_settings,
    number,
    real,
    vocabulary_sizes,
)
from core.checkpoints.npz_vocabulary import (
    decoder_options,
    file_name,
    padded_tokenizer,
    read_sides,
)
from core.checkpoints.npz_weights import OPTIONS, MarianWeights, parts, positions, require_matrices
from core.checkpoints.plain_yaml import read_mapping
from core.checkpoints.refusal import RefusedError
from core.config import ModelConfig
from core.errors import UserError
from core.files import is_folder, read_problem
from core.npz_file import NpzArrays, open_npz
from core.text.marian import MarianTokenizer

_LARGEST_OPTIONS = 1_000_000  # bytes
_NORM_EPSILON = 1e-6  # of all its layer norms: src/layers/generic.h


def import_marian_npz(path: str | Path) -> Checkpoint:
    """Load a Marian `.npz` model with its tokenizer, in evaluation mode and float32.

    Padding, of which Marian has no embedding, becomes a piece at the end of the smaller
    vocabulary, with an embedding of zeros; it is never an output.

    Args:
        path: the `.npz`, or the folder that holds it.

    Raises:
        UserError: a file is missing or damaged, or the model computes what ours cannot.
    """
    path = _model_in(Path(path))
    try:
        with open_npz(path, "a Marian model") as arrays:
            return _imported(path, arrays)
    except RefusedError as refusal:
        raise UserError(f"{path} cannot be opened: {refusal}.") from refusal


def _imported(path: Path, arrays: NpzArrays) -> Checkpoint:
    options = _options(path, arrays)
    require_matrices(arrays)
    settings = model_settings(options) | positions(arrays)
    sizes = vocabulary_sizes(options)
    search = decoder_options(path)
    tokenizer = padded_tokenizer(read_sides(path, search), sizes, pad_id=min(sizes))
    config = _config(settings, tokenizer, allow_unknown=is_set(search, "allow-unk"))
    weights = MarianWeights(arrays, config.pad_id)
    model = assemble(config, parts(config, weights.names), weights, str(path))
    provenance: dict[str, Any] = {"imported": f"Marian model {path.name}"}
    if search:
        provenance["decoding"] = _decoding(search)
    return Checkpoint(model, tokenizer, provenance)


def _model_in(path: Path) -> Path:
    """The file itself, or the one in a folder.

    Raises:
        UserError: there is none, or it is open which.
    """
    try:
        if not is_folder(path):
            return path
        found = sorted(file for file in path.iterdir() if file.suffix == ".npz")
    except OSError as error:
        raise UserError(read_problem(path, error)) from error
    models = [file for file in found if not file.name.endswith(".optimizer.npz")]
    if len(models) > 1:
        named = decoder_options(path / "model.npz").get("models", [])
        models = [file for file in models if file.name in map(file_name, named)]
    if len(models) != 1:
        names = ", ".join(file.name for file in found) or "no .npz file"
        raise UserError(f"{path} contains {names}; open the .npz file of one model.")
    return models[0]


def _options(path: Path, arrays: NpzArrays) -> Options:
    if OPTIONS not in arrays.names:
        raise RefusedError(f"it lacks {OPTIONS}, so it is not a Marian model")
    if math.prod(arrays.layout(OPTIONS).shape) > _LARGEST_OPTIONS:
        raise RefusedError(f"its {OPTIONS} is damaged: it is much too long")
    written = arrays.read(OPTIONS).tobytes().rstrip(b"\0")  # filled up to whole blocks
    return read_mapping(written, f"{path}: {OPTIONS}")


def _config(
    settings: dict[str, Any], tokenizer: MarianTokenizer, *, allow_unknown: bool
) -> ModelConfig:
    shares_inputs = settings["shared_embeddings"] in ("all", "inputs")
    source, target = tokenizer.vocab_size, tokenizer.target.vocab_size
    if shares_inputs and source != target:
        raise RefusedError(
            f"its one embedding is for vocabularies of {source - 1} and {target - 1}"
        )
    own = not shares_inputs and tokenizer.target.pieces != tokenizer.pieces
    try:
        return ModelConfig(
            **settings,
            vocab_size=source,
            target_vocab_size=target if own else None,
            norm_epsilon=_NORM_EPSILON,
            decoder_start="zero",
            suppressed_ids=(tokenizer.pad_id,),
            unchosen_ids=() if allow_unknown else (tokenizer.unk_id,),
            pad_id=tokenizer.pad_id,
            unk_id=tokenizer.unk_id,
            bos_id=tokenizer.bos_id,
            eos_id=tokenizer.eos_id,
        )
    except UserError as error:
        raise RefusedError(str(error).removesuffix(".")) from error


def _decoding(search: Options) -> dict[str, Any]:
    """Marian's search: score log p / length^normalize; what is not said has its default."""
    return {
        "beam": number(search, "beam-size", 12),
        "penalty": "length",
        "alpha": real(search, "normalize", 0.0),
    }
