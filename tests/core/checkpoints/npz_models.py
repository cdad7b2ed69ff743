"""Models in Marian's own files, written here from nothing but arrays by Marian's names."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import yaml
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

LINES = ["The animal was tired.", "It slept because it was too tired.", "Das Tier war müde."]
TARGET_LINES = ["Das Tier war müde.", "Es schlief, weil es zu müde war."]
LANGUAGES = (">>deu<<", ">>nds<<")
OPTIONS: dict[str, Any] = {
    "type": "transformer",
    "dim-emb": 16,
    "enc-depth": 2,
    "dec-depth": 3,
    "transformer-heads": 4,
    "transformer-dim-ffn": 24,
    "transformer-decoder-dim-ffn": 0,
    "transformer-ffn-depth": 2,
    "transformer-ffn-activation": "swish",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-decoder-autoreg": "self-attention",
    "transformer-tied-layers": [],
    "transformer-no-projection": False,
    "tied-embeddings": False,
    "tied-embeddings-src": False,
    "tied-embeddings-all": True,
    "right-left": False,
    "skip": False,
    "version": "v1.9.0",
}
DECODER = {"beam-size": 6, "normalize": 1, "word-penalty": 0, "relative-paths": True}


def sentencepiece_model(lines: Sequence[str], size: int = 60) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=size,
        hard_vocab_limit=False,
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        minloglevel=2,
    )
    return written.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(id) for id in range(len(processor))]


@dataclass
class NpzModel:
    """What a folder of Marian holds, to be changed by a test and then written.

    Attributes:
        arrays: the weights.
        options: of ``special:model.yml``.
        decoder: of ``decoder.yml``; None for no such file.
        files: beside them, by name.
    """

    arrays: Arrays
    options: dict[str, Any]
    decoder: dict[str, Any] | None
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """→ the `.npz`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        if self.decoder is not None:
            (folder / "decoder.yml").write_text(yaml.safe_dump(self.decoder), encoding="utf-8")
        path = folder / "model.npz"
        np.savez(path, **self.arrays, **{"special:model.yml": options_array(self.options)})
        return path


def options_array(options: Mapping[str, Any]) -> NDArray[np.int8]:
    """UTF-8, filled up with zeros to whole blocks of 256 bytes, as signed bytes."""
    content = yaml.safe_dump(dict(options), allow_unicode=True).encode()
    content += b"\0" * (256 - len(content) % 256)
    return np.frombuffer(content, np.int8)


def random_npz(*, separate: bool = False, seed: int = 0, **changes: Any) -> NpzModel:
    """A model with random weights, its vocabulary and decoder.yml.

    Args:
        separate: a vocabulary for each side, of different sizes.
        changes: of the options, with _ for -; "bias", False leaves the output bias out.
    """
    options = OPTIONS | {name.replace("_", "-"): value for name, value in changes.items()}
    source = sentencepiece_model([*LINES, *TARGET_LINES], 70 if separate else 60)
    target = sentencepiece_model(TARGET_LINES, 45) if separate else source
    names = ["opus.src.vocab.yml", "opus.trg.vocab.yml"] if separate else ["opus.vocab.yml"] * 2
    pieces = [[*pieces_of(source), *LANGUAGES], pieces_of(target)]
    if not separate:
        pieces[1] = pieces[0]
    files = {"source.spm": source, "target.spm": target}
    files |= {name: vocabulary_yml(side) for name, side in zip(names, pieces, strict=True)}
    options["dim-vocabs"] = [len(side) for side in pieces]
    decoder = DECODER | {"models": ["model.npz"], "vocabs": names}
    return NpzModel(random_arrays(options, seed), options, decoder, files)


def vocabulary_yml(pieces: Sequence[str]) -> bytes:
    """Quoted as JSON, which YAML reads as well."""
    lines = [f"{json.dumps(piece, ensure_ascii=False)}: {id}" for id, piece in enumerate(pieces)]
    return ("\n".join(lines) + "\n").encode()


def random_arrays(options: Mapping[str, Any], seed: int = 0) -> Arrays:
    random = np.random.default_rng(seed)

    def array(*shape: int, mean: float = 0.0) -> NDArray[np.float32]:
        return (mean + 0.4 * random.standard_normal(shape)).astype(np.float32)

    d_model, inner = options["dim-emb"], options["transformer-dim-ffn"]
    source, target = options["dim-vocabs"]
    suffix = "_pre" if "n" in options["transformer-preprocess"] else ""
    found: Arrays = {}

    def norm(name: str, end: str = suffix) -> None:
        found[f"{name}_ln_scale{end}"] = array(1, d_model, mean=1.0)
        found[f"{name}_ln_bias{end}"] = array(1, d_model)

    def attention(name: str) -> None:
        for letter in "qkvo":
            found[f"{name}_W{letter}"] = array(d_model, d_model)
            found[f"{name}_b{letter}"] = array(1, d_model)
        norm(f"{name}_Wo")

    if options["tied-embeddings-all"] or options["tied-embeddings-src"]:
        found["Wemb"] = array(source, d_model)
    else:
        found["encoder_Wemb"] = array(source, d_model)
        found["decoder_Wemb"] = array(target, d_model)
    if not (options["tied-embeddings-all"] or options["tied-embeddings"]):
        found["decoder_ff_logit_out_Wt"] = array(target, d_model)
    if not options.get("output-omit-bias", False):
        found["decoder_ff_logit_out_b"] = array(1, target)
    for stack, depth in (("encoder", options["enc-depth"]), ("decoder", options["dec-depth"])):
        wide = (options["transformer-decoder-dim-ffn"] or inner) if stack == "decoder" else inner
        for number in range(1, depth + 1):
            layer = f"{stack}_l{number}"
            attention(f"{layer}_self")
            if stack == "decoder":
                attention(f"{layer}_context")
            found[f"{layer}_ffn_W1"] = array(d_model, wide)
            found[f"{layer}_ffn_b1"] = array(1, wide)
            found[f"{layer}_ffn_W2"] = array(wide, d_model)
            found[f"{layer}_ffn_b2"] = array(1, d_model)
            norm(f"{layer}_ffn_ffn")
        if "n" in options["transformer-postprocess-top"]:
            norm(f"{stack}_top", "")
    return found
