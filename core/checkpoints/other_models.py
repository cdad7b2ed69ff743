"""What a folder or file is that cannot be opened as a model, and what to do instead.

It is told from names and from the little that configurations say, without torch.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from core.checkpoints.settings import Settings, read_settings
from core.counted import counted
from core.errors import AS_TRACE, UserError

_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_WEIGHTS = re.compile(r"(adapter_|pytorch_)?model.*\.(safetensors|bin)|tf_model\.h5|.*\.msgpack")
_NAMES = {  # of kinds of models whose identifier does not say it
    "m2m_100": "M2M-100 or NLLB",
    "mbart": "mBART",
    "gpt2": "GPT-2",
    "gpt_neox": "GPT-NeoX",
    "mt5": "mT5",
    "xlm-roberta": "XLM-RoBERTa",
    "distilbert": "DistilBERT",
    "roberta": "RoBERTa",
}
TOKENIZER = ("source.spm", "target.spm", "vocab.json")


def refuse_other_model(folder: Path) -> None:
    """Refuse a folder of a model other than MarianMT.

    Raises:
        UserError: the folder's ``config.json`` is that of a model other than MarianMT.
    """
    settings = _readable(folder / "config.json")
    kind = None if settings is None else settings.values.get("model_type")
    if isinstance(kind, str) and kind != "marian":
        name = _NAMES.get(kind, kind.upper() if len(kind) < 5 else kind.capitalize())
        raise UserError(
            f"{folder} contains a {kind!r} model ({name}), but only MarianMT models of "
            f"transformers can be opened here; {AS_TRACE}."
        )


def refuse_folder(folder: Path, names: Collection[str]) -> None:
    """Refuse a folder without ``config.json`` that is recognised as something else.

    Args:
        names: of what is in the folder, which has no ``config.json``.

    Raises:
        UserError: it is recognised as something that holds no model by itself.
    """
    if "adapter_config.json" in names:
        adapter = _readable(folder / "adapter_config.json")
        base = None if adapter is None else adapter.values.get("base_model_name_or_path")
        of = f" of {base}" if isinstance(base, str) and base else ""
        raise UserError(
            f"{folder} contains a LoRA adapter, which holds only the changes to a model{of}; "
            "merge both with merge_and_unload() of peft, save the result and the tokenizer with "
            "save_pretrained, and open that folder."
        )
    steps = [int(found[1]) for found in map(_CHECKPOINT.fullmatch, names) if found]
    if steps:
        raise UserError(
            f"{folder} is the output folder of a transformers training run with "
            f"{counted(len(steps), 'checkpoint')}; "
            f"open one of them, such as {folder / f'checkpoint-{max(steps)}'}."
        )
    cached = sum(name.startswith("models--") for name in names)
    if cached:
        raise UserError(
            f"{folder} is the Hugging Face cache with {counted(cached, 'model')}; open the folder "
            "of one model, "
            "models--OWNER--NAME."
        )
    if any(map(_WEIGHTS.fullmatch, names)):
        raise UserError(
            f"{folder} has weights but no config.json, which describes them; copy the whole "
            "folder of the model."
        )


def refuse_codes(path: Path) -> None:
    """Refuse a file of byte-pair codes, recognised by its name.

    Raises:
        UserError: the file holds byte-pair codes, by its name.
    """
    if path.suffix == ".bpe":
        raise UserError(
            f"{path} splits words with subword-nmt codes, but this program reads SentencePiece "
            "models; choose a model that has source.spm and target.spm."
        )


def no_tokenizer(folder: Path, settings: Settings) -> UserError:
    """Return the error for a MarianMT folder without any file of its tokenizer."""
    base = settings.values.get("_name_or_path")
    of = f" ({base})" if isinstance(base, str) and base else ""
    return UserError(
        f"{folder} has a model but no tokenizer, perhaps because a fine-tuned model was saved "
        f"without it; copy {', '.join(TOKENIZER)} from the base model{of}, or save them with "
        "tokenizer.save_pretrained."
    )


def no_weights(folder: Path, wanted: Collection[str], names: Collection[str]) -> UserError:
    """Return the error for a MarianMT folder without readable weights."""
    foreign = {"tf_model.h5": "TensorFlow", "flax_model.msgpack": "Flax", "rust_model.ot": "Rust"}
    for name, program in foreign.items():
        if name in names:
            return UserError(
                f"{folder} has weights for {program} only ({name}); open it once with "
                "transformers and save it with save_pretrained, which writes model.safetensors."
            )
    return UserError(
        f"{folder} has no weights: it contains neither {' nor '.join(wanted)}; copy the whole "
        "folder of the model."
    )


def _readable(path: Path) -> Settings | None:
    """None for a file whose reader will say what is wrong with it."""
    try:
        return read_settings(path)
    except UserError:
        return None
