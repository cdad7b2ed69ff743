"""MarianMT folders against the MarianMTModel and MarianTokenizer of `transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.analysis.readout import contributions_to, direct_parts, layer_lens
from core.checkpoints.native import Checkpoint, load_checkpoint, save_checkpoint
from core.checkpoints.opening import open_model
from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import search, source_batch
from core.decoding.translate import translate
from core.heads import AttentionKind
from core.model.attention import attention_weights
from core.model.recording import Recording
from core.trace.record import trace_text
from core.trace.record_states import record_states
from tests.core.checkpoints.marian_folders import ENGLISH, GERMAN, save_marian_folder

transformers = pytest.importorskip("transformers")

FOLDERS: dict[str, dict[str, Any]] = {
    "shared": {},
    "deep and narrow": {
        "encoder_layers": 3,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 48,
        "activation_function": "relu",
        "scale_embedding": False,
    },
    "wide": {"d_model": 48, "decoder_layers": 3, "activation_function": "gelu"},
    "separate vocabularies": {"separate": True},
    "separate, untied": {"separate": True, "tie_word_embeddings": False},
    "untied": {"tie_word_embeddings": False},
    "pickled": {"pickled": True},
    "pickled, in half precision": {"pickled": True, "half": True},
    "in several files": {"sharded": True},
    "pickled, in several files": {"pickled": True, "sharded": True},
    "languages": {"languages": (">>deu<<", ">>nds<<")},
}
LIVELY: dict[str, Any] = {"init_std": 0.4}
"""Weights so large that what comes next depends on much, and rounding is felt in the maps."""
SOON_ENDED: dict[str, Any] = {"init_std": 0.5, "end_bias": 5.0}
SENTENCES = (
    *ENGLISH,
    "It was tired.",
    "Two hours!",
    "A frog, a teacher and an animal: it was wide",
)


@pytest.fixture(scope="module", params=FOLDERS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder, our model of it and the one that `transformers` reads from it."""
    folder = tmp_path_factory.mktemp("models")
    return folder, *saved(folder, **FOLDERS[request.param])


@pytest.fixture(scope="module", params=[*FOLDERS, "soon ended"])
def lively(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Our model and theirs, of weights that searches are worth comparing on."""
    folder = tmp_path_factory.mktemp("lively")
    return saved(folder, **(LIVELY | FOLDERS.get(request.param, SOON_ENDED)))


def saved(folder: Path, **changes: Any) -> tuple[Checkpoint, Any]:
    save_marian_folder(folder, **changes)
    twin = transformers.MarianMTModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    )
    return open_model(folder), twin.eval()


def test_logits_of_a_padded_batch(both: Any) -> None:
    _, checkpoint, twin = both
    source, target_in = batch(checkpoint)
    with torch.no_grad():
        ours = checkpoint.model(source, target_in)
        theirs = twin(
            input_ids=source,
            attention_mask=(source != checkpoint.config.pad_id).long(),
            decoder_input_ids=target_in,
        ).logits
    (suppressed,) = checkpoint.config.suppressed_ids
    assert (ours[..., suppressed] == -torch.inf).all()
    kept = [id for id in range(ours.shape[-1]) if id != suppressed]
    assert theirs.std() > 0.5
    torch.testing.assert_close(ours[..., kept], theirs[..., kept], atol=1e-4, rtol=0.0)


def test_attention_of_every_head_in_a_padded_batch(both: Any) -> None:
    _, checkpoint, twin = both
    source, target_in = batch(checkpoint)
    allowed = (source != checkpoint.config.pad_id)[:, None, None, :]
    past = torch.ones(target_in.shape[1], target_in.shape[1], dtype=torch.bool).tril()
    recording = Recording()
    with torch.no_grad():
        memory = checkpoint.model.encode(source, recording)
        checkpoint.model.decode(target_in, memory, source, recording)
        theirs = twin(
            input_ids=source,
            attention_mask=(source != checkpoint.config.pad_id).long(),
            decoder_input_ids=target_in,
            output_attentions=True,
        )
    for recorded, mask, expected in (
        (recording.encoder_self, allowed, theirs.encoder_attentions),
        (recording.decoder_self, past, theirs.decoder_attentions),
        (recording.cross, allowed, theirs.cross_attentions),
    ):
        assert len(recorded) == len(expected)
        for one, map_ in zip(recorded, expected, strict=True):
            weights = attention_weights(one.query, one.key, mask)
            torch.testing.assert_close(weights, map_, atol=1e-5, rtol=0.0)


def test_a_trace_has_their_attention_and_our_tokens(both: Any) -> None:
    _, checkpoint, twin = both
    trace = trace_text(checkpoint.model, checkpoint.tokenizer, ENGLISH[0], target=GERMAN[0])
    source, fed = (
        torch.tensor([[token.id for token in side]])
        for side in (trace.source_tokens, trace.target_tokens)
    )
    with torch.no_grad():
        theirs = twin(input_ids=source, decoder_input_ids=fed, output_attentions=True)
    for kind, expected in (
        (AttentionKind.ENCODER_SELF, theirs.encoder_attentions),
        (AttentionKind.DECODER_SELF, theirs.decoder_attentions),
        (AttentionKind.CROSS, theirs.cross_attentions),
    ):
        for head in trace.every_head(kind):
            expected_map = expected[head.layer][0, head.head].numpy()
            np.testing.assert_allclose(trace.weights(*head), expected_map, atol=1e-5)
    assert trace.target_tokens[0].piece == "<pad>"
    pieces = "".join(token.piece for token in trace.predicted_tokens[:-1])
    assert pieces == "▁" + GERMAN[0].replace(" ", "▁")
    assert trace.source_tokens[-1].piece == trace.predicted_tokens[-1].piece == "</s>"


def test_states_are_their_hidden_states(both: Any) -> None:
    _, ours, twin = both
    trace = trace_text(ours.model, ours.tokenizer, ENGLISH[0], target=GERMAN[0])
    states = record_states(ours.model, trace)
    source, target = (
        torch.tensor([[token.id for token in tokens]])
        for tokens in (trace.source_tokens, trace.target_tokens)
    )
    with torch.no_grad():
        theirs = twin(input_ids=source, decoder_input_ids=target, output_hidden_states=True)
    lens = layer_lens(ours.model, trace, states)
    for stack, expected in (
        (states.encoder, theirs.encoder_hidden_states),
        (states.decoder, theirs.decoder_hidden_states),
    ):
        layers = torch.cat(expected).numpy()
        np.testing.assert_allclose(stack.streams(), layers, rtol=1e-4, atol=1e-4)
    logits = theirs.logits[0, :, :].clone()
    logits[:, list(ours.model.config.suppressed_ids)] = -torch.inf
    best = logits.softmax(dim=-1).topk(5).values.numpy()
    np.testing.assert_allclose(lens.probabilities[-1], best, rtol=1e-3, atol=1e-6)
    direct = direct_parts(ours.model, states, 2)
    found = contributions_to(ours.model, direct, [5, 9]).sum(axis=0)
    np.testing.assert_allclose(found, logits[2, [5, 9]].numpy(), rtol=1e-4, atol=1e-4)


def test_greedy_search_gives_the_same_ids(lively: Any) -> None:
    checkpoint, twin = lively
    sources = checkpoint.tokenizer.encode_all(SENTENCES)
    found = search(checkpoint.model, sources, replace(GREEDY, max_length=30))
    expected = generated(checkpoint, twin, sources, num_beams=1, max_length=31)
    assert [list(best.ids) for (best, *_) in found] == expected


@pytest.mark.parametrize("stopping", ["exact", "estimate"])
def test_beam_search_gives_the_same_ids(lively: Any, stopping: str) -> None:
    checkpoint, twin = lively
    config = replace(SearchConfig.of_model(checkpoint.provenance), stopping=stopping)
    assert (config.beam, config.alpha, config.penalty, config.max_length) == (4, 1.0, "length", 39)
    sources = checkpoint.tokenizer.encode_all(SENTENCES)
    early = {"exact": "never", "estimate": False}[stopping]
    expected = generated(checkpoint, twin, sources, early_stopping=early)
    found = search(checkpoint.model, sources, config)
    assert [list(best.ids) for (best, *_) in found] == expected


def test_texts_are_cut_and_joined_as_theirs(both: Any) -> None:
    folder, checkpoint, _ = both
    theirs = transformers.MarianTokenizer.from_pretrained(folder)
    for text in (*SENTENCES, "Ein 駅 und ß?", "  two   spaces ", ">>deu<< It was tired."):
        if text.startswith(">>") and not checkpoint.tokenizer.languages:
            continue  # there it is a word like any other
        assert checkpoint.tokenizer.encode(text) == theirs(text).input_ids[:-1]
    for text in GERMAN:
        ids = checkpoint.tokenizer.target.encode(text)
        assert ids == theirs(text_target=text).input_ids[:-1]
        assert checkpoint.tokenizer.target.decode(ids) == text
        assert theirs.decode(ids, use_source_tokenizer=False) == text


def test_a_round_trip_through_our_format_is_exact(both: Any, tmp_path: Path) -> None:
    _, checkpoint, _ = both
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, checkpoint.model, checkpoint.tokenizer, checkpoint.provenance)
    again = load_checkpoint(path)
    assert again.config == checkpoint.config
    assert again.provenance == checkpoint.provenance
    assert again.tokenizer.identity == checkpoint.tokenizer.identity
    weights = dict(again.model.named_parameters())
    assert all(torch.equal(w, weights[n]) for n, w in checkpoint.model.named_parameters())
    source, target_in = batch(checkpoint)
    with torch.no_grad():
        assert torch.equal(again.model(source, target_in), checkpoint.model(source, target_in))
    config = SearchConfig.of_model(checkpoint.provenance)
    first, second = (
        translate(one.model, one.tokenizer, SENTENCES, config) for one in (checkpoint, again)
    )
    assert first == second


def test_half_precision_is_read_as_float32(tmp_path: Path) -> None:
    save_marian_folder(tmp_path, half=True)
    checkpoint = open_model(tmp_path)
    assert {one.dtype for one in checkpoint.model.parameters()} == {torch.float32}
    twin = transformers.MarianMTModel.from_pretrained(tmp_path, dtype=torch.float32).eval()
    source, target_in = batch(checkpoint)
    source, target_in = source[:1], target_in[:1]
    source = source[:, : int((source != checkpoint.config.pad_id).sum())]
    with torch.no_grad():
        ours = checkpoint.model(source, target_in)
        theirs = twin(input_ids=source, decoder_input_ids=target_in).logits
    pad = checkpoint.config.pad_id
    torch.testing.assert_close(ours[..., :pad], theirs[..., :pad], atol=1e-4, rtol=0.0)


def batch(checkpoint: Checkpoint) -> tuple[torch.Tensor, torch.Tensor]:
    """Sources and fed targets of different lengths, padded: [B, S] and [B, T]."""
    config, tokenizer = checkpoint.config, checkpoint.tokenizer
    source = source_batch(checkpoint.model, tokenizer.encode_all(ENGLISH))
    targets = [[config.bos_id, *ids] for ids in tokenizer.target.encode_all(GERMAN)]
    width = max(map(len, targets))
    fed = [[*ids, *[config.pad_id] * (width - len(ids))] for ids in targets]
    return source, torch.tensor(fed)


def test_the_searches_that_are_compared_differ(tmp_path: Path) -> None:
    save_marian_folder(tmp_path, **SOON_ENDED)
    checkpoint = open_model(tmp_path)
    config = SearchConfig.of_model(checkpoint.provenance)
    estimate, exact = (
        translate(checkpoint.model, checkpoint.tokenizer, SENTENCES, one)
        for one in (config, replace(config, stopping="exact"))
    )
    assert len({len(one.ids) for one in estimate} - {0, 38}) >= 2
    assert estimate != exact


def generated(
    checkpoint: Checkpoint, twin: Any, sources: Sequence[Sequence[int]], **settings: Any
) -> list[list[int]]:
    """Without the begin token, the end token and what follows it."""
    source = source_batch(checkpoint.model, sources)
    output = twin.generate(
        source, attention_mask=(source != checkpoint.config.pad_id).long(), **settings
    )
    end = checkpoint.config.eos_id
    return [row[1 : row.index(end, 1) if end in row[1:] else None] for row in output.tolist()]
