"""What lies beside a Marian `.npz`: the vocabularies, and how to search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.checkpoints.other_models import refuse_codes
from core.checkpoints.plain_yaml import read_mapping, whole_number
from core.checkpoints.refusal import RefusedError
from core.checkpoints.segmentations import read_segmentation, refuse_swapped
from core.checkpoints.settings import read_bytes
from core.errors import UserError
from core.files import is_file, is_there, read_problem
from core.text.marian import END, PAD, UNKNOWN, MarianTokenizer, marian_tokenizer
from core.text.segmentation import read_sentencepiece

Vocabulary = Mapping[str, int]


class Side(NamedTuple):
    """One language of a model: how its text is split, and the id of each piece."""

    pieces: bytes  # a SentencePiece model file
    vocabulary: Vocabulary


def decoder_options(model: Path) -> Mapping[str, Any]:
    """Read the options of Marian's decoder from ``decoder.yml`` or the one named after the model;
    empty if there is none.

    Raises:
        UserError: it cannot be read.
    """
    for name in (f"{model.name}.decoder.yml", "decoder.yml", f"{model.name}.yml"):
        path = model.parent / name
        if is_file(path):
            return read_mapping(read_bytes(path), str(path))
    return {}


def file_name(written: object) -> str:
    """Return the name without the folders of the machine where it was written."""
    return str(written).replace("\\", "/").rpartition("/")[2]


def read_sides(model: Path, options: Mapping[str, Any]) -> tuple[Side, Side]:
    """Read the source and the target side.

    Args:
        options: the decoder's; they may name the vocabularies, which are looked for beside the
            model, wherever they were when it was trained.

    Raises:
        UserError: a vocabulary is missing, damaged or of another kind.
        RefusedError: there is not one for each side.
    """
    folder = model.parent
    names = options.get("vocabs") or _only_vocabulary(folder)
    if isinstance(names, str) or len(names) != 2:
        raise RefusedError(f"it needs two vocabularies, but its decoder.yml names {names!r}")
    paths = [folder / file_name(name) for name in names]
    vocabularies = {path: _read_vocabulary(path) for path in set(paths)}  # often one for both
    source, target = (
        Side(_read_segmentation(path, folder / segmentation), vocabularies[path])
        for path, segmentation in zip(paths, ("source.spm", "target.spm"), strict=True)
    )
    if all(path.suffix != ".spm" for path in paths) and source.vocabulary != target.vocabulary:
        models = (source.pieces, target.pieces)
        refuse_swapped(folder, models, (source.vocabulary, target.vocabulary))
    return source, target


def padded_tokenizer(
    sides: tuple[Side, Side], sizes: tuple[int, int], pad_id: int
) -> MarianTokenizer:
    """Return a tokenizer with padding inserted before the piece ``pad_id`` of the files.

    Args:
        sizes: pieces that the model has on each side.

    Raises:
        RefusedError: a vocabulary is damaged or not that of the model.
    """
    for side, size, name in zip(sides, sizes, ("source", "target"), strict=True):
        if len(side.vocabulary) != size:
            raise RefusedError(
                f"its {name} vocabulary has {len(side.vocabulary):,} pieces, but the model has "
                f"{size:,}"
            )
    source, target = (side.vocabulary for side in sides)
    for special in (END, UNKNOWN):
        ids = (source.get(special), target.get(special))
        if None in ids:
            raise RefusedError(f"its vocabulary lacks {special}")
        if ids[0] != ids[1]:
            raise RefusedError(
                f"{special} has the id {ids[0]} in its source vocabulary but {ids[1]} in its "
                "target vocabulary"
            )
    try:
        return marian_tokenizer(
            sides[0].pieces,
            sides[1].pieces,
            _with_padding(source, pad_id),
            None if source == target else _with_padding(target, pad_id),
            bos_id=pad_id,
        )
    except UserError as error:
        raise RefusedError(str(error).removesuffix(".")) from error


def _only_vocabulary(folder: Path) -> tuple[str, str]:
    """The one in the folder, for both sides."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise UserError(read_problem(folder, error)) from error
    found = [name for name in names if name.endswith(("vocab.yml", "vocab.yaml", "vocab.spm"))]
    if len(found) != 1:
        raise UserError(
            f"{folder} needs a decoder.yml that names the vocabularies, or exactly one vocab.yml "
            f"or vocab.spm file (it has {len(found) or 'none'}); copy the whole folder of the "
            "model."
        )
    return found[0], found[0]


def _read_vocabulary(path: Path) -> dict[str, int]:
    if path.suffix == ".spm":
        return _pieces(path)
    if path.suffix == ".fsv":
        raise UserError(
            f"{path} is a factored vocabulary, but this program reads only plain ones; choose a "
            "model with a plain vocabulary."
        )
    if path.suffix not in (".yml", ".yaml"):
        raise UserError(
            f"{path} is a vocabulary of an unsupported kind; choose a model with .yml or .spm "
            "vocabularies."
        )
    return _ids(path)


def _read_segmentation(vocabulary: Path, segmentation: Path) -> bytes:
    if vocabulary.suffix == ".spm":
        return read_bytes(vocabulary)
    codes = segmentation.with_suffix(".bpe")
    if not is_there(segmentation) and is_there(codes):
        refuse_codes(codes)
    return read_segmentation(segmentation)


def _ids(path: Path) -> dict[str, int]:
    ids = {}
    for piece, written in read_mapping(read_bytes(path), str(path)).items():
        id = whole_number(written)
        if id is None:
            raise UserError(f"{path} is damaged: it has no id for the piece {piece!r}.")
        ids[piece] = id
    return ids


def _pieces(path: Path) -> dict[str, int]:
    """What SentencePiece itself numbers, which Marian takes over from a `.spm` vocabulary."""
    content = read_bytes(path)
    try:
        processor = read_sentencepiece(content)
    except UserError as error:
        raise UserError(f"{path} is damaged: it is not a SentencePiece model.") from error
    ids = {processor.id_to_piece(id): id for id in range(processor.vocab_size())}
    specials = {processor.eos_id(): END, processor.unk_id(): UNKNOWN}
    return {specials.get(id, piece): id for piece, id in ids.items()}


def _with_padding(vocabulary: Vocabulary, pad_id: int) -> dict[str, int]:
    if PAD in vocabulary:
        raise RefusedError(f"its vocabulary already has a piece {PAD}")
    moved = {piece: id + (id >= pad_id) for piece, id in vocabulary.items()}
    return {**moved, PAD: pad_id}
