"""Marian's own files, against a twin of Marian in NumPy and float64."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from numpy.typing import NDArray

from core.checkpoints.kinds import is_marian_npz
from core.checkpoints.marian_npz import import_marian_npz
from core.checkpoints.native import Checkpoint, load_checkpoint, save_checkpoint
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import search
from core.heads import AttentionKind
from core.model.attention import attention_weights
from core.model.recording import Recording
from tests.core.checkpoints.npz_models import (
    LANGUAGES,
    NpzModel,
    options_array,
    pieces_of,
    random_npz,
    vocabulary_yml,
)
from tests.core.checkpoints.npz_twin import Twin

SHORT, LONG = "The animal slept.", "It slept because the animal was too tired."
TARGET = [5, 6, 7, 8]

PRE_NORM = {
    "transformer_preprocess": "n",
    "transformer_postprocess": "da",
    "transformer_postprocess_top": "n",
}
UNTIED = {"tied_embeddings_all": False}
VARIANTS: dict[str, dict[str, Any]] = {
    "as OPUS-MT": {},
    "relu": {"transformer_ffn_activation": "relu", "transformer_heads": 1},
    "one layer each": {"enc_depth": 1, "dec_depth": 1, "transformer_heads": 2},
    "another width in the decoder": {"transformer_decoder_dim_ffn": 40, "dim_emb": 8},
    "pre-norm": PRE_NORM,
    "pre-norm without norms on top": PRE_NORM | {"transformer_postprocess_top": ""},
    "post-norm and norms on top": {"transformer_postprocess_top": "n"},
    "no output bias": {"output_omit_bias": True},
    "tied inputs": UNTIED | {"tied_embeddings_src": True},
    "tied outputs": UNTIED | {"tied_embeddings": True},
    "nothing tied": UNTIED,
    "a larger source vocabulary": UNTIED | {"tied_embeddings": True, "separate": True},
    "two vocabularies, nothing tied": UNTIED | {"separate": True},
}


def recorded(
    checkpoint: Checkpoint, sources: Sequence[Sequence[int]], target: Sequence[int]
) -> tuple[torch.Tensor, dict[AttentionKind, list[torch.Tensor]]]:
    """A padded batch, with one translation for all → logits [B, T, V], maps [B, H, Q, K]."""
    model, config = checkpoint.model, checkpoint.config
    rows = [[*ids, config.eos_id] for ids in sources]
    width = max(map(len, rows))
    source = torch.tensor([[*row, *[config.pad_id] * (width - len(row))] for row in rows])
    target_in = torch.tensor([[config.bos_id, *target]] * len(rows))
    recording = Recording()
    with torch.inference_mode():
        memory = model.encode(source, recording)
        logits = model.logits(model.decode(target_in, memory, source, recording))
    allowed = model.source_allowed(source)
    causal = torch.ones(len(target) + 1, len(target) + 1, dtype=torch.bool).tril()
    masks = zip(AttentionKind, (allowed, causal, allowed), strict=True)
    return logits, {
        kind: [
            attention_weights(one.query, one.key, mask) for one in getattr(recording, kind.value)
        ]
        for kind, mask in masks
    }


def file_ids(checkpoint: Checkpoint, ids: Sequence[int]) -> list[int]:
    """Those of the file, which has no padding."""
    return [id - (id > checkpoint.config.pad_id) for id in ids]


def without_padding(checkpoint: Checkpoint, scores: torch.Tensor) -> NDArray[np.float64]:
    return np.delete(scores.double().numpy(), checkpoint.config.pad_id, axis=-1)


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_scores_and_every_head_are_those_of_marian(tmp_path: Path, changes: dict[str, Any]) -> None:
    npz = random_npz(**changes)
    checkpoint = import_marian_npz(npz.write(tmp_path))
    sources = checkpoint.tokenizer.encode_all([LONG, SHORT])
    assert len(sources[0]) > len(sources[1]) > 5
    logits, maps = recorded(checkpoint, sources, TARGET)
    for row, ids in enumerate(sources):
        twin = Twin(npz.arrays, npz.options)
        expected = twin.scores(
            [*file_ids(checkpoint, ids), checkpoint.config.eos_id], file_ids(checkpoint, TARGET)
        )
        # float32 against float64; without norms on top, scores grow and their rounding with them
        tolerance = max(1e-4, 1e-5 * np.abs(expected).max())
        np.testing.assert_allclose(
            without_padding(checkpoint, logits[row]), expected, rtol=1e-5, atol=tolerance
        )
        for kind in AttentionKind:
            assert len(maps[kind]) == checkpoint.config.layers(kind)
            for ours, theirs in zip(maps[kind], twin.maps[kind], strict=True):
                cut = ours[row, :, : theirs.shape[1], : theirs.shape[2]]
                np.testing.assert_allclose(cut, theirs, atol=1e-5)


def test_half_precision_is_read_as_it_is(tmp_path: Path) -> None:
    npz = random_npz()
    npz.arrays = {name: array.astype(np.float16) for name, array in npz.arrays.items()}
    checkpoint = import_marian_npz(npz.write(tmp_path))
    assert {one.dtype for one in checkpoint.model.parameters()} == {torch.float32}
    ids = checkpoint.tokenizer.encode(LONG)
    logits, _ = recorded(checkpoint, [ids], TARGET)
    expected = Twin(npz.arrays, npz.options).scores([*ids, 0], TARGET)
    np.testing.assert_allclose(without_padding(checkpoint, logits[0]), expected, atol=1e-4)


def test_trained_positions_leave_embeddings_unscaled(tmp_path: Path) -> None:
    npz = random_npz()
    random = np.random.default_rng(1)
    npz.arrays["Wpos"] = random.standard_normal((50, 16)).astype(np.float32)
    checkpoint = import_marian_npz(npz.write(tmp_path))
    assert checkpoint.config.max_positions == 50
    ids = checkpoint.tokenizer.encode(LONG)
    logits, _ = recorded(checkpoint, [ids], TARGET)
    expected = Twin(npz.arrays, npz.options).scores([*ids, 0], TARGET)
    np.testing.assert_allclose(without_padding(checkpoint, logits[0]), expected, atol=1e-4)


def test_an_output_matrix_of_the_old_form_is_the_same_transposed(tmp_path: Path) -> None:
    npz = random_npz(**UNTIED)
    new = import_marian_npz(npz.write(tmp_path / "new"))
    npz.arrays["decoder_ff_logit_out_W"] = npz.arrays.pop("decoder_ff_logit_out_Wt").T.copy()
    old = import_marian_npz(npz.write(tmp_path / "old"))
    ids = new.tokenizer.encode(LONG)
    assert torch.equal(recorded(new, [ids], TARGET)[0], recorded(old, [ids], TARGET)[0])


def marian_greedy(
    npz: NpzModel, ids: Sequence[int], longest: int, never: Sequence[int]
) -> list[int]:
    """What marian-decoder finds with beam 1: the unknown token is left out of the choice alone."""
    found: list[int] = []
    while len(found) < longest - 1:
        scores = Twin(npz.arrays, npz.options).scores([*ids, 0], found)[-1]
        scores[list(never)] = -np.inf
        best = int(scores.argmax())
        if best == 0:
            break
        found.append(best)
    return found


@pytest.mark.parametrize("allowed", [False, True])
def test_the_unknown_token_is_chosen_only_where_the_decoder_allows_it(
    tmp_path: Path, allowed: bool
) -> None:
    npz = random_npz()
    npz.arrays["decoder_ff_logit_out_b"][0, :2] += (-4.0, 7.0)
    assert npz.decoder is not None
    npz.decoder["allow-unk"] = allowed
    checkpoint = import_marian_npz(npz.write(tmp_path))
    ids = checkpoint.tokenizer.encode(LONG)
    config = dataclasses.replace(GREEDY, max_length=12)
    [[best]] = search(checkpoint.model, [ids], config)
    assert list(best.ids) == marian_greedy(npz, ids, 12, () if allowed else (1,))
    assert (1 in best.ids) == allowed


def test_probabilities_are_those_of_a_vocabulary_without_padding(tmp_path: Path) -> None:
    """The unknown token keeps its share, for Marian leaves it out only when it chooses."""
    npz = random_npz()
    checkpoint = import_marian_npz(npz.write(tmp_path))
    ids = checkpoint.tokenizer.encode(LONG)
    logits, _ = recorded(checkpoint, [ids], TARGET)
    scores = Twin(npz.arrays, npz.options).scores([*ids, 0], TARGET)
    expected = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    found = without_padding(checkpoint, logits[0].double().log_softmax(-1))
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert logits[..., checkpoint.config.pad_id].isneginf().all()


def test_a_round_trip_through_our_format_is_exact(tmp_path: Path) -> None:
    for name, changes in VARIANTS.items():
        imported = import_marian_npz(random_npz(**changes).write(tmp_path / name))
        saved = tmp_path / f"{name}.safetensors"
        save_checkpoint(saved, imported.model, imported.tokenizer, imported.provenance)
        loaded = load_checkpoint(saved)
        assert loaded.config == imported.config
        assert loaded.provenance == imported.provenance
        assert loaded.tokenizer.identity == imported.tokenizer.identity
        ids = imported.tokenizer.encode(LONG)
        assert torch.equal(recorded(loaded, [ids], TARGET)[0], recorded(imported, [ids], TARGET)[0])


# What lies beside the model


def test_the_decoders_search_comes_along(tmp_path: Path) -> None:
    npz = random_npz()
    npz.decoder |= {"beam-size": 6, "normalize": 0.6}
    provenance = import_marian_npz(npz.write(tmp_path)).provenance
    expected = SearchConfig(beam=6, alpha=0.6, penalty="length")
    assert SearchConfig.of_model(provenance) == expected
    del npz.decoder["beam-size"], npz.decoder["normalize"]
    provenance = import_marian_npz(npz.write(tmp_path)).provenance
    expected = SearchConfig(beam=12, alpha=0.0, penalty="length")
    assert SearchConfig.of_model(provenance) == expected


def test_without_a_decoder_yml_there_is_no_search_and_the_only_vocabulary_is_taken(
    tmp_path: Path,
) -> None:
    npz = random_npz()
    whole = import_marian_npz(npz.write(tmp_path / "whole"))
    npz.decoder = None
    bare = import_marian_npz(npz.write(tmp_path / "bare"))
    assert "decoding" not in bare.provenance
    assert bare.tokenizer.identity == whole.tokenizer.identity


@pytest.mark.parametrize("name", ["model.npz.decoder.yml", "model.npz.yml"])
def test_the_decoders_options_may_be_named_like_the_model(tmp_path: Path, name: str) -> None:
    path = random_npz().write(tmp_path)
    (tmp_path / "decoder.yml").rename(tmp_path / name)
    assert "decoding" in import_marian_npz(path).provenance


def test_vocabularies_are_looked_for_beside_the_model(tmp_path: Path) -> None:
    npz = random_npz()
    assert npz.decoder is not None
    npz.decoder["vocabs"] = ["/projappl/x/opus.vocab.yml", r"C:\models\opus.vocab.yml"]
    assert import_marian_npz(npz.write(tmp_path)).tokenizer.vocab_size == 1 + len(
        npz.arrays["Wemb"]
    )


def test_a_sentencepiece_vocabulary_numbers_its_pieces_itself(tmp_path: Path) -> None:
    npz = random_npz()
    model = npz.files["source.spm"]
    pieces = pieces_of(model)
    npz.options["dim-vocabs"] = [len(pieces)] * 2
    npz.arrays["Wemb"] = npz.arrays["Wemb"][: len(pieces)]
    npz.arrays["decoder_ff_logit_out_b"] = npz.arrays["decoder_ff_logit_out_b"][:, : len(pieces)]
    npz.files = {"vocab.spm": model}
    assert npz.decoder is not None
    npz.decoder["vocabs"] = ["vocab.spm", "vocab.spm"]
    tokenizer = import_marian_npz(npz.write(tmp_path)).tokenizer
    ids = tokenizer.encode(LONG)
    assert "".join(pieces[id] for id in ids).replace("▁", " ").strip() == LONG
    assert tokenizer.target.decode(ids) == LONG


def test_ids_are_the_vocabularys_and_never_sentencepieces(tmp_path: Path) -> None:
    npz = random_npz()
    pieces = yaml.safe_load(npz.files["opus.vocab.yml"])
    last = len(pieces) - 1
    turned = {piece: id if id < 2 else last + 2 - id for piece, id in pieces.items()}
    npz.files["opus.vocab.yml"] = vocabulary_yml(sorted(turned, key=turned.__getitem__))
    tokenizer = import_marian_npz(npz.write(tmp_path)).tokenizer
    assert [tokenizer.token(id).piece for id in tokenizer.encode(SHORT)] == pieces_in(npz, SHORT)
    assert tokenizer.encode(SHORT)[0] == turned["▁T"]


def pieces_in(npz: NpzModel, text: str) -> list[str]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=npz.files["source.spm"])
    return list(processor.encode(text, out_type=str))


def test_pieces_may_look_like_other_values_of_yaml(tmp_path: Path) -> None:
    npz = random_npz()
    odd = ["no", "~", "true", "0x1f", "1:30", "<<", "=", "1e3", '"', "#x", "null"]
    count = len(npz.arrays["Wemb"])
    lines = npz.files["opus.vocab.yml"].decode()
    for id, piece in enumerate(odd, count):
        quoted = yaml.safe_dump(piece).splitlines()[0] if piece in ('"', "#x") else piece
        lines += f"{quoted}: {id}\n"
    npz.files["opus.vocab.yml"] = lines.encode()
    grow(npz, len(odd))
    tokenizer = import_marian_npz(npz.write(tmp_path)).tokenizer
    assert [tokenizer.token(count + id).piece for id in range(len(odd))] == odd


def grow(npz: NpzModel, count: int) -> None:
    npz.arrays["Wemb"] = np.pad(npz.arrays["Wemb"], ((0, count), (0, 0)))
    bias = npz.arrays["decoder_ff_logit_out_b"]
    npz.arrays["decoder_ff_logit_out_b"] = np.pad(bias, ((0, 0), (0, count)))
    npz.options["dim-vocabs"] = [size + count for size in npz.options["dim-vocabs"]]


def test_a_text_begins_with_the_language_that_it_is_to_be_translated_to(tmp_path: Path) -> None:
    npz = random_npz()
    tokenizer = import_marian_npz(npz.write(tmp_path)).tokenizer
    assert tokenizer.languages == LANGUAGES
    language, *rest = tokenizer.encode(f"{LANGUAGES[1]} {SHORT}")
    assert tokenizer.token(language).piece == LANGUAGES[1]
    assert rest == tokenizer.encode(SHORT)


def test_options_are_cut_at_their_zeros_and_may_be_of_unsigned_bytes(tmp_path: Path) -> None:
    npz = random_npz(note="größer")
    options = options_array(npz.options)
    assert (options < 0).any(), "signed bytes"
    assert (options[-2:] == 0).all(), "more than one zero"
    path = npz.write(tmp_path)
    signed = import_marian_npz(path)
    np.savez(path, **npz.arrays, **{"special:model.yml": options.view(np.uint8)})
    assert import_marian_npz(path).config == signed.config


def test_flags_may_be_written_as_texts_and_values_may_be_null(tmp_path: Path) -> None:
    npz = random_npz()
    expected = import_marian_npz(npz.write(tmp_path)).config
    npz.options |= {"tied-embeddings-all": "true", "right-left": "false"}
    npz.options |= {"transformer-tied-layers": None, "lemma-dim-emb": None}
    assert import_marian_npz(npz.write(tmp_path)).config == expected


def test_a_folder_stands_for_the_model_in_it(tmp_path: Path) -> None:
    path = random_npz().write(tmp_path)
    (tmp_path / "model.npz.optimizer.npz").write_bytes(path.read_bytes())
    assert import_marian_npz(tmp_path).provenance["imported"] == "Marian model model.npz"
    (tmp_path / "model.best.npz").write_bytes(path.read_bytes())
    assert import_marian_npz(tmp_path).provenance["imported"] == "Marian model model.npz"


def test_a_model_is_told_from_a_trace(tmp_path: Path) -> None:
    assert is_marian_npz(random_npz().write(tmp_path))
    np.savez(tmp_path / "trace.npz", source_tokens=np.array(["a"]))
    assert not is_marian_npz(tmp_path / "trace.npz")
    assert not is_marian_npz(tmp_path / "none.npz")
    assert not is_marian_npz(tmp_path)
