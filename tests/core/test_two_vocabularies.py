"""A model whose sides have vocabularies of their own, through the whole program."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from core.analysis.decomposition import decompose
from core.analysis.forced import forced_pairs
from core.analysis.heads import measure_heads
from core.analysis.sample import Sample
from core.checkpoints.native import Checkpoint
from core.checkpoints.opening import open_model
from core.cli import main
from core.decoding.beam_growth import grow_tree
from core.decoding.candidates import step_candidates
from core.decoding.config import SearchConfig
from core.decoding.continuation import continue_greedily
from core.decoding.scoring import score_targets
from core.decoding.translate import translate
from core.trace.record import trace_hypothesis, trace_text
from core.trace.what_if import trace_variant
from tests.core.checkpoints.marian_folders import ENGLISH, GERMAN, save_marian_folder

pytest.importorskip("transformers")

TEXT, TRANSLATION = ENGLISH[0], GERMAN[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "opus-mt-en-de"
    save_marian_folder(folder, separate=True, init_std=0.3)
    return folder


@pytest.fixture(scope="module")
def checkpoint(folder: Path) -> Checkpoint:
    return open_model(folder)


def test_the_same_id_is_another_piece_on_each_side(checkpoint: Checkpoint) -> None:
    source, target = checkpoint.tokenizer, checkpoint.tokenizer.target
    pieces = [(source.token(id).piece, target.token(id).piece) for id in range(source.vocab_size)]
    assert sum(one != other for one, other in pieces) > len(pieces) / 2


def test_a_trace_names_each_side_by_its_own_vocabulary(checkpoint: Checkpoint) -> None:
    source, target = checkpoint.tokenizer, checkpoint.tokenizer.target
    trace = trace_text(checkpoint.model, source, TEXT)
    assert trace.source_tokens[:-1] == tuple(source.tokens(TEXT))
    ids = [token.id for token in trace.predicted_tokens]
    assert trace.predicted_tokens == tuple(target.token(id) for id in ids)
    assert trace.target_tokens == (target.token(target.bos_id), *trace.predicted_tokens[:-1])
    assert trace.translation == target.decode(ids)
    given = trace_text(checkpoint.model, source, TEXT, target=TRANSLATION)
    assert given.predicted_tokens[:-1] == tuple(target.tokens(TRANSLATION))
    again = trace_hypothesis(checkpoint.model, source, TEXT, ids)
    assert (again.predicted_tokens, again.translation) == (
        trace.predicted_tokens,
        trace.translation,
    )


def test_what_each_step_considers_is_of_the_target(checkpoint: Checkpoint) -> None:
    model, target = checkpoint.model, checkpoint.tokenizer.target
    source = checkpoint.tokenizer.encode(TEXT)
    ids = [*target.encode(TRANSLATION), target.eos_id]
    steps = step_candidates(model, source, ids)
    assert all(0 <= one.id < target.vocab_size for step in steps for one in step)
    beginning = [piece.id for piece in target.continuation("Das Tier")]
    assert continue_greedily(model, source, beginning)[: len(beginning)] == tuple(beginning)
    tree = grow_tree(model, source, SearchConfig(beam=3), target.token)
    assert all(node.token == target.token(node.token.id) for node in tree.nodes)


def test_scores_are_those_of_a_trace(checkpoint: Checkpoint) -> None:
    target = checkpoint.tokenizer.target
    (scored,) = score_targets(
        checkpoint.model, [checkpoint.tokenizer.encode(TEXT)], [target.encode(TRANSLATION)]
    )
    trace = trace_text(checkpoint.model, checkpoint.tokenizer, TEXT, target=TRANSLATION)
    assert trace.log_probabilities is not None
    np.testing.assert_allclose(scored.numpy(), trace.log_probabilities, atol=1e-5)
    with torch.no_grad():
        fed = torch.tensor([[one.id for one in trace.target_tokens]])
        read = torch.tensor([[one.id for one in trace.source_tokens]])
        shares = checkpoint.model(read, fed)[0].exp()
    wanted = torch.tensor([one.id for one in trace.predicted_tokens])
    expected = shares[range(len(wanted)), wanted] / shares.sum(dim=-1)
    np.testing.assert_allclose(np.exp(trace.log_probabilities), expected.numpy(), rtol=1e-4)


def test_every_head_is_measured_over_both_vocabularies(checkpoint: Checkpoint) -> None:
    sample = Sample(name="four", sources=ENGLISH, references=tuple((one,) for one in GERMAN))
    forced = forced_pairs(checkpoint.model, checkpoint.tokenizer, sample)
    measured = measure_heads(
        checkpoint.model,
        checkpoint.tokenizer,
        forced.pairs,
        counts=[1] * checkpoint.tokenizer.vocab_size,
    )
    for one in measured:
        shares = []
        for source, target in zip(ENGLISH, GERMAN, strict=True):
            trace = trace_text(checkpoint.model, checkpoint.tokenizer, source, target=target)
            weights = trace.weights(*one.head)
            keys = trace.key_tokens(one.head.kind)
            special = np.array([key.piece in ("<pad>", "</s>") for key in keys])
            shares.append(weights[:, special].sum() / len(weights))
        assert one.statistics["special"] == pytest.approx(np.mean(shares), abs=1e-4)


def test_contributions_add_up(checkpoint: Checkpoint) -> None:
    trace = trace_text(checkpoint.model, checkpoint.tokenizer, TEXT, target=TRANSLATION)
    assert decompose(checkpoint.model, trace).error < 1e-5


def test_another_order_of_words_is_traced_too(checkpoint: Checkpoint) -> None:
    variant = trace_variant(checkpoint.model, checkpoint.tokenizer, TEXT, order=1)
    assert sorted(variant.order) == list(range(len(variant.trace.source_tokens)))
    assert variant.shuffled


def test_import_makes_one_file_that_translates_alike(
    folder: Path, checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "en-de.safetensors"
    assert main(["import", str(folder), "-o", str(path)]) == 0
    count = checkpoint.model.parameter_count()
    assert f"{count:,} parameters" in capsys.readouterr().err
    found = []
    for model in (folder, path):
        assert main(["translate", "--model", str(model), "--json", *ENGLISH]) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert found[0] == found[1]
    search = SearchConfig.of_model(checkpoint.provenance)
    expected = translate(checkpoint.model, checkpoint.tokenizer, ENGLISH, search)
    assert [one["translation"] for one in found[0]] == [one.text for one in expected]
    target = checkpoint.tokenizer.target
    assert found[0][0]["tokens"] == [target.token(id).piece for id in expected[0].ids]


def test_half_of_an_import_is_half_the_size(folder: Path, tmp_path: Path) -> None:
    whole, half = tmp_path / "whole.safetensors", tmp_path / "half.safetensors"
    assert main(["import", str(folder), "-o", str(whole)]) == 0
    assert main(["import", str(folder), "--half", "-o", str(half)]) == 0
    parameters = open_model(whole).model.parameter_count()
    saved = whole.stat().st_size - half.stat().st_size
    assert saved == pytest.approx(2 * parameters, rel=0.01)
    torch.testing.assert_close(
        open_model(half).model.source_embedding.weight,
        open_model(whole).model.source_embedding.weight,
        atol=1e-3,
        rtol=1e-3,
    )


def test_info_and_card_of_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(folder), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["provenance"]["languages"] == ["eng", "deu"]
    assert about["model"]["target_vocab_size"] is not None
    assert main(["info", str(folder), "--card"]) == 0
    card = capsys.readouterr().out
    assert "pieces for the source and" in card
    assert "| imported from | MarianMT folder opus-mt-en-de |" in card


def test_import_of_our_own_model_and_record_of_a_foreign_one_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.safetensors"
    assert main(["import", str(path), "-o", str(path)]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert main(["import", str(folder), "-o", str(path)]) == 0
    assert main(["import", str(path), "-o", str(path)]) == 1
    assert "need no import" in capsys.readouterr().err
    assert main(["evaluate", "--gold", "--record", "--model", str(folder)]) == 1
    assert "create one with import first" in capsys.readouterr().err


def test_training_refuses_what_only_an_import_can_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    settings = ["target_vocab_size=500", "shared_embeddings=target"]
    assert main(["train", "tiny", "--out", str(out), "--set", *settings]) == 1
    error = capsys.readouterr().err
    assert "target_vocab_size = 500 is not possible" in error
    assert "a run learns one vocabulary" in error
    assert not out.exists()
