"""A Marian `.npz` with the weights of a MarianMTModel, against `transformers`.

Marian and transformers differ in the table of positions, in the epsilon of their norms and in the
unknown token, which Marian never chooses; where they are compared, one is given what the other has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from core.checkpoints.marian_npz import import_marian_npz
from core.checkpoints.native import Checkpoint
from core.checkpoints.opening import open_model
from core.decoding.config import SearchConfig
from core.decoding.search import search, source_batch
from core.heads import AttentionKind
from core.model.attention import attention_weights
from core.model.recording import Recording
from tests.core.checkpoints.marian_folders import ENGLISH, save_marian_folder
from tests.core.checkpoints.npz_models import DECODER, OPTIONS, NpzModel, vocabulary_yml
from tests.core.checkpoints.npz_twin import position_table

transformers = pytest.importorskip("transformers")

MODELS: dict[str, dict[str, Any]] = {
    "as OPUS-MT": {},
    "relu, deep and narrow": {
        "encoder_layers": 3,
        "decoder_layers": 1,
        "encoder_ffn_dim": 48,
        "activation_function": "relu",
    },
    "separate vocabularies": {"separate": True},
    "nothing tied": {"separate": True, "tie_word_embeddings": False},
}
# Large weights, and a bias of the end token at which some translations end and some do not.
LIVELY = dict(zip(MODELS, (6.0, 5.0, 4.0, 6.0), strict=True))
SENTENCES = (*ENGLISH, "It was tired.", "Two hours!", "A frog, a teacher and an animal.")


class Both(NamedTuple):
    ours: Checkpoint
    folder: Checkpoint
    theirs: Any


@pytest.fixture(scope="module", params=MODELS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return opened(tmp_path_factory.mktemp("calm"), **MODELS[request.param])


@pytest.fixture(scope="module", params=MODELS)
def lively(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    name = request.param
    settings = MODELS[name] | {"init_std": 0.5, "end_bias": LIVELY[name]}
    return opened(tmp_path_factory.mktemp("lively"), **settings)


def opened(folder: Path, **settings: Any) -> Both:
    save_marian_folder(folder, **settings)
    model = transformers.MarianMTModel.from_pretrained(folder, attn_implementation="eager").eval()
    ours = import_marian_npz(npz_of(model, folder).write(folder / "npz"))
    return Both(ours, open_model(folder), as_marian_computes(model))


def npz_of(model: Any, folder: Path) -> NpzModel:
    """The same weights and vocabularies by Marian's names, without padding."""
    tensors = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    config = model.config
    options = OPTIONS | {
        "dim-emb": config.d_model,
        "enc-depth": config.encoder_layers,
        "dec-depth": config.decoder_layers,
        "transformer-heads": config.encoder_attention_heads,
        "transformer-dim-ffn": config.encoder_ffn_dim,
        "transformer-decoder-dim-ffn": config.decoder_ffn_dim,
        "transformer-ffn-activation": config.activation_function,
        "tied-embeddings-all": config.share_encoder_decoder_embeddings,
        "tied-embeddings": config.tie_word_embeddings,
        "dim-vocabs": [config.vocab_size - 1, config.decoder_vocab_size - 1],
    }
    arrays: dict[str, NDArray[np.float32]] = {
        "decoder_ff_logit_out_b": tensors["final_logits_bias"][:, :-1]
    }
    words = {f"{stack}_Wemb": f"model.{stack}.embed_tokens.weight" for stack in STACKS}
    if config.share_encoder_decoder_embeddings:
        words = {"Wemb": words["encoder_Wemb"]}
    if not config.tie_word_embeddings:
        words["decoder_ff_logit_out_Wt"] = "lm_head.weight"
    arrays |= {name: tensors[theirs][:-1] for name, theirs in words.items()}
    for stack in STACKS:
        for layer in range(getattr(config, f"{stack}_layers")):
            for theirs, name in MODULES.items():
                prefix = f"model.{stack}.layers.{layer}.{theirs}"
                if f"{prefix}.weight" not in tensors:
                    continue  # cross-attention in the encoder
                weight, bias = tensors[f"{prefix}.weight"], tensors[f"{prefix}.bias"]
                marian = f"{stack}_l{layer + 1}_{name}"
                if weight.ndim == 1:
                    arrays[f"{marian}_ln_scale"] = weight[None]
                    arrays[f"{marian}_ln_bias"] = bias[None]
                else:
                    arrays[marian.replace("*", "W")] = weight.T
                    arrays[marian.replace("*", "b")] = bias[None]
    names = ["source.vocab.yml", "target.vocab.yml"]
    files = {name: (folder / name).read_bytes() for name in ("source.spm", "target.spm")}
    for name, written in zip(names, ("vocab.json", "target_vocab.json"), strict=True):
        path = folder / written
        ids = json.loads((path if path.exists() else folder / "vocab.json").read_text("utf-8"))
        files[name] = vocabulary_yml(sorted(ids, key=ids.__getitem__)[:-1])
    return NpzModel(arrays, options, DECODER | {"vocabs": names}, files)


STACKS = ("encoder", "decoder")
MODULES = {
    **{f"self_attn.{letter}_proj": f"self_*{letter}" for letter in "qkv"},
    **{f"encoder_attn.{letter}_proj": f"context_*{letter}" for letter in "qkv"},
    "self_attn.out_proj": "self_*o",
    "encoder_attn.out_proj": "context_*o",
    "self_attn_layer_norm": "self_Wo",
    "encoder_attn_layer_norm": "context_Wo",
    "fc1": "ffn_*1",
    "fc2": "ffn_*2",
    "final_layer_norm": "ffn_ffn",
}


def as_marian_computes(model: Any) -> Any:
    """With Marian's table and epsilon, and a score of −∞ for padding."""
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-6
    with torch.no_grad():
        for stack in (model.model.encoder, model.model.decoder):
            table = stack.embed_positions.weight
            table.copy_(torch.from_numpy(position_table(*table.shape)))
        model.final_logits_bias[0, -1] = -torch.inf
    return model


def test_it_is_the_model_of_the_folder_but_for_what_marian_computes_otherwise(both: Both) -> None:
    parameters = dict(both.folder.model.named_parameters())
    ours = dict(both.ours.model.named_parameters())
    assert ours.keys() == parameters.keys()
    pad = both.ours.config.pad_id
    for name, parameter in parameters.items():
        if name.startswith("output_"):  # of padding, which is suppressed
            parameter.data[pad] = 0.0
        assert torch.equal(ours[name], parameter), name
    marians = {"position_denominator", "norm_epsilon", "unchosen_ids", "decoder_start"}
    mine, theirs = (one.config.to_dict() for one in (both.ours, both.folder))
    assert {name for name in mine if mine[name] != theirs[name]} <= {*marians, "top_norm"}
    for text in SENTENCES:
        assert both.ours.tokenizer.tokens(text) == both.folder.tokenizer.tokens(text)


def test_scores_and_every_head_in_a_padded_batch(both: Both) -> None:
    model, config = both.ours.model, both.ours.config
    source = source_batch(model, both.ours.tokenizer.encode_all(SENTENCES))
    random = torch.Generator().manual_seed(4)
    target_in = torch.randint(2, config.pad_id, (len(source), 12), generator=random)
    target_in[:, 0] = config.bos_id
    recording = Recording()
    with torch.inference_mode():
        memory = model.encode(source, recording)
        logits = model.logits(model.decode(target_in, memory, source, recording))
        theirs = both.theirs(
            input_ids=source,
            attention_mask=(source != config.pad_id).long(),
            decoder_input_ids=target_in,
            output_attentions=True,
        )
    kept = torch.arange(logits.shape[-1]) != config.pad_id
    torch.testing.assert_close(logits[..., kept], theirs.logits[..., kept], atol=1e-4, rtol=0.0)
    causal = torch.ones(12, 12, dtype=torch.bool).tril()
    allowed = model.source_allowed(source)
    for kind, mask, maps in (
        (AttentionKind.ENCODER_SELF, allowed, theirs.encoder_attentions),
        (AttentionKind.DECODER_SELF, causal, theirs.decoder_attentions),
        (AttentionKind.CROSS, allowed, theirs.cross_attentions),
    ):
        for one, expected in zip(getattr(recording, kind.value), maps, strict=True):
            weights = attention_weights(one.query, one.key, mask)
            torch.testing.assert_close(weights, expected, atol=1e-5, rtol=0.0)


@pytest.mark.parametrize("beam", [1, 4])
def test_searches_give_the_same_ids(lively: Both, beam: int) -> None:
    model, config = lively.ours.model, lively.ours.config
    sources = lively.ours.tokenizer.encode_all(SENTENCES)
    setting = SearchConfig(beam=beam, alpha=1.0, penalty="length", max_length=30, free_end=True)
    found = search(model, sources, setting)
    source = source_batch(model, sources)
    rows = lively.theirs.generate(
        source,
        attention_mask=(source != config.pad_id).long(),
        num_beams=beam,
        do_sample=False,
        length_penalty=1.0,
        early_stopping="never" if beam > 1 else False,
        max_length=31,
        bad_words_ids=None,
        renormalize_logits=False,
        suppress_tokens=[config.unk_id],
        forced_eos_token_id=config.eos_id,
    )
    expected = [
        [id for id in row[1:].tolist() if id not in (config.pad_id, config.eos_id)] for row in rows
    ]
    assert [list(best.ids) for (best, *_) in found] == expected
    assert len({len(ids) for ids in expected}) > 1
