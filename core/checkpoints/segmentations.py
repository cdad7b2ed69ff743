"""SentencePiece models beside the weights of Marian's models: whether they fit the vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.checkpoints.settings import read_bytes
from core.errors import UserError
from core.text.segmentation import read_sentencepiece


def read_segmentation(path: Path) -> bytes:
    """Read a SentencePiece model file.

    Raises:
        UserError: the file is missing, or no SentencePiece model.
    """
    content = read_bytes(path)
    try:
        read_sentencepiece(content)
    except UserError as error:
        raise UserError(f"{path} is not a SentencePiece model; the file is damaged.") from error
    return content


def require_fitting(path: Path, model: bytes, vocabulary: Mapping[str, int]) -> None:
    """Check that the vocabulary has most of the model's pieces; a few may be missing.

    Raises:
        UserError: the vocabulary lacks most of the model's pieces; a few may be missing.
    """
    pieces = _pieces(model)
    known = len(pieces & vocabulary.keys())
    if known < len(pieces) / 2:
        raise UserError(
            f"{path} splits text into {len(pieces):,} different pieces, but the vocabulary has "
            f"only {known:,} of them; the files belong to different models or languages."
        )


def refuse_swapped(
    folder: Path, models: tuple[bytes, bytes], vocabularies: tuple[Mapping[str, int], ...]
) -> None:
    """Refuse swapped model files where there are two vocabularies.

    A joint vocabulary has the pieces of both models, so nothing can be told there.

    Raises:
        UserError: each SentencePiece model fits the vocabulary of the other side better.
    """
    (own, other), (other_too, own_too) = (
        [len(_pieces(model) & vocabulary.keys()) for vocabulary in vocabularies] for model in models
    )
    if other > own and other_too > own_too:
        raise UserError(
            f"{folder}: source.spm splits text into pieces of the target vocabulary, and "
            "target.spm into pieces of the source vocabulary; the two files are swapped, so "
            "exchange their names."
        )


def _pieces(model: bytes) -> set[str]:
    processor = read_sentencepiece(model)
    return {processor.id_to_piece(id) for id in range(processor.vocab_size())}
