from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.corpus.grammar.generate import FAMILIES, generate
from core.errors import UserError
from core.evaluation.pronouns import PronounSentence
from core.model.initialisation import initialise
from core.model.transformer import Transformer
from core.presets import preset
from core.statistics.rows import head_statistics
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from core.trace.npz import load_npz
from core.trace.trace import AttentionKind, Head
from core.training.config import GRAMMAR, PROBES, RunConfig
from core.training.probe import Probe, with_references
from core.training.probe_log import read_probe_log
from core.training.probes import (
    GOLD_PAIRS,
    SEARCH,
    Probes,
    gold_scores,
    gold_sentences,
    probe_steps,
    require_traceable,
)
from core.training.run import resume_run, start_run
from core.training.run_folder import RunFolder
from tests.core.corpus.grammar.test_translations import REFUSALS, told


def start(
    path: Path, config: RunConfig, should_stop: Callable[[], bool] = lambda: False
) -> RunFolder:
    start_run(path, config, command="", tell=lambda event: None, should_stop=should_stop)
    return RunFolder.open(path)


def resume(path: Path, steps: int | None = None) -> None:
    resume_run(path, steps=steps, tell=lambda event: None, should_stop=lambda: False)


def recorded(folder: RunFolder) -> list[int]:
    return read_probe_log(folder.probe_log).steps.tolist()


@pytest.fixture(scope="module")
def english_german() -> Tokenizer:
    lines = (
        text for sentence in generate(400, seed=3) for text in (sentence.source, sentence.target)
    )
    return train_tokenizer(lines, 400)


def test_steps_are_even_in_the_logarithm() -> None:
    assert probe_steps(256, 4) == [0, 4, 16, 64, 256]
    assert probe_steps(10_000, 2) == [0, 100, 10_000]


@given(steps=st.integers(1, 10**6), points=st.integers(0, 60))
def test_steps_begin_at_the_start_and_end_at_the_end(steps: int, points: int) -> None:
    found = probe_steps(steps, points)
    if points == 0:
        assert found == []
        return
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (0, steps)
    assert len(found) <= points + 1
    # Once steps are far apart, rounding no longer hides that each is the same multiple of the last.
    late = [step for step in found if step > 1000]
    ratio = steps ** (1 / points)
    assert all(
        math.isclose(after / before, ratio, rel_tol=2e-3)
        for before, after in itertools.pairwise(late)
    )


def test_a_run_records_what_its_model_does_then(tmp_path: Path, copies: RunConfig) -> None:
    config = copies.with_settings({"probes": ["eins zwei drei\tdrei zwei", "acht acht"]})
    folder = start(tmp_path / "run", config)
    log = read_probe_log(folder.probe_log)
    assert log.steps.tolist() == probe_steps(20, 4) == [0, 2, 4, 9, 20]
    assert len(log.heads) == (1 + 2 + 2) * 2
    traces = [[load_npz(folder.probe(step, index)) for index in (0, 1)] for step in (0, 2, 20)]
    assert [trace.text for trace in traces[0]] == ["eins zwei drei", "acht acht"]
    assert {trace.translation for trace, _ in traces} == {"drei zwei"}
    assert len({len(trace.target_tokens) for trace, _ in traces}) == 1
    limit = 1 + SEARCH.max_extra
    for (_, unknown), step in zip(traces, (0, 2, 20), strict=True):
        assert len(unknown.target_tokens) <= len(unknown.source_tokens) + limit
        at = log.steps.tolist().index(step)
        assert log.translations[at][1] == unknown.translation
        for head in log.heads:
            at_step = traces[(0, 2, 20).index(step)]
            expected = np.mean([head_statistics(trace, *head)["entropy"] for trace in at_step])
            assert log.series(head, "entropy")[at] == pytest.approx(expected, abs=1e-4)
    before, after = (
        found[0].weights(AttentionKind.ENCODER_SELF, 0, 0) for found in (traces[0], traces[2])
    )
    assert np.abs(before - after).max() > 0.01
    assert log.pairs == 0
    assert np.isnan(log.series(log.heads[0], "antecedent")).all()


@pytest.mark.parametrize("settings", [{"probe_points": 0}, {"probes": []}])
def test_recording_changes_nothing_in_the_training(
    tmp_path: Path, copies: RunConfig, settings: dict[str, object]
) -> None:
    watched = start(tmp_path / "watched", copies)
    alone = start(tmp_path / "alone", copies.with_settings(settings))
    assert recorded(watched)
    assert not alone.probe_log.exists()
    assert not (alone.path / "probes").exists()
    for mine, theirs in ((watched.state, alone.state), (watched.model, alone.model)):
        assert tensors(mine) == tensors(theirs)  # the random generators' states are among them


def tensors(path: Path) -> bytes:
    """A safetensors file without its header, which holds the configuration and the times."""
    content = path.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little") :]


def test_a_resumed_run_has_the_probes_of_an_uninterrupted_one(
    tmp_path: Path, copies: RunConfig
) -> None:
    whole = start(tmp_path / "whole", copies)
    updates = 0

    def killed() -> bool:
        nonlocal updates
        updates += 1
        if updates == 15:  # recorded at 9, saved at 8
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        start(tmp_path / "parts", copies, killed)
    parts = RunFolder.open(tmp_path / "parts")
    assert recorded(parts) == [0, 2, 4, 9]
    resume(parts.path)
    assert parts.probe_log.read_bytes() == whole.probe_log.read_bytes()
    for step in recorded(whole):
        mine, other = (load_npz(folder.probe(step, 0)) for folder in (whole, parts))
        assert mine.translation == other.translation
        for kind in AttentionKind:
            assert np.array_equal(mine.layer_weights(kind, 0), other.layer_weights(kind, 0))


def test_a_run_killed_before_its_first_update_records_the_start_once(
    tmp_path: Path, copies: RunConfig
) -> None:
    def killed() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start(tmp_path / "run", copies, killed)
    resume(tmp_path / "run")
    assert recorded(RunFolder.open(tmp_path / "run")) == probe_steps(20, 4)


def test_a_run_that_is_stopped_has_a_last_probe_until_it_goes_on(
    tmp_path: Path, copies: RunConfig
) -> None:
    whole = start(tmp_path / "whole", copies)
    updates = iter(range(1, 100))
    parts = start(tmp_path / "parts", copies, lambda: next(updates) == 13)
    assert recorded(parts) == [0, 2, 4, 9, 13]
    assert parts.probe(13, 0).is_file()
    resume(parts.path)
    assert recorded(parts) == [0, 2, 4, 9, 20]
    assert not parts.probe(13, 0).exists()
    assert parts.probe_log.read_bytes() == whole.probe_log.read_bytes()


def test_a_run_that_is_stopped_at_a_step_that_is_due_records_it_once(
    tmp_path: Path, copies: RunConfig
) -> None:
    updates = iter(range(1, 100))
    folder = start(tmp_path / "run", copies, lambda: next(updates) == 9)
    assert recorded(folder) == [0, 2, 4, 9]
    resume(folder.path)
    assert recorded(folder) == [0, 2, 4, 9, 20]


def test_a_run_that_stops_early_has_a_last_probe(tmp_path: Path, copies: RunConfig) -> None:
    config = copies.with_settings({"early_stopping": 1, "validate_every": 1, "steps": 200})
    folder = start(tmp_path / "run", config.with_settings({"peak_factor": 1e-9}))
    last = json.loads(folder.metrics.read_text(encoding="utf-8").splitlines()[-1])["step"]
    assert last < 200
    assert recorded(folder)[-1] == last
    resume(folder.path, steps=300)
    assert last in recorded(folder)


def test_a_probe_from_the_validation_sentences_gets_its_reference(
    tmp_path: Path, copies: RunConfig
) -> None:
    (tmp_path / "dev.tsv").write_text("drei vier\tvier drei\n", encoding="utf-8")
    settings = {"validation": [str(tmp_path / "dev.tsv")], "probes": ["drei vier", "vier vier"]}
    folder = start(tmp_path / "run", copies.with_settings(settings))
    assert load_npz(folder.probe(0, 0)).translation == "vier drei"
    config, _ = folder.read_record()
    assert config.training.probes == ("drei vier\tvier drei", "vier vier")


def test_references_that_cannot_be_written_as_one_are_passed_over() -> None:
    references = {"a": ["x\ty", "z" * 301, "b"], "c": ["\t"]}
    assert with_references(["a", "c", "d", " a\tq"], references) == ("a\tb", "c", "d", " a\tq")


@pytest.mark.parametrize("probe", ["a\tb\tc", "a\t", "\tb", " \t ", "x" * 301, "x\t" + "y" * 301])
def test_a_probe_has_one_side_or_two(copies: RunConfig, probe: str) -> None:
    with pytest.raises(UserError, match="with its translation after one tab"):
        copies.with_settings({"probes": [probe]})


def test_the_usual_probes_are_translated_as_the_grammar_does() -> None:
    assert [Probe.parse(text) for text in PROBES] == told(REFUSALS[0])


def test_an_extended_run_keeps_what_was_recorded(tmp_path: Path, copies: RunConfig) -> None:
    folder = start(tmp_path / "run", copies)
    resume(tmp_path / "run", steps=30)
    assert recorded(folder) == [0, 2, 4, 9, 20, 30]


def test_a_run_from_before_there_were_probes_records_from_now_on(
    tmp_path: Path, copies: RunConfig
) -> None:
    folder = start(tmp_path / "run", copies.with_settings({"probe_points": 0}), lambda: True)
    record = json.loads(folder.record.read_text(encoding="utf-8"))
    del record["training"]["probes"], record["training"]["probe_points"]
    folder.record.write_text(json.dumps(record), encoding="utf-8")
    resume(tmp_path / "run")
    assert recorded(folder) == [step for step in probe_steps(20, 24) if step >= 1]


def test_gold_scores_are_those_of_a_model_that_guesses_nothing_by_chance(
    english_german: Tokenizer,
) -> None:
    """A head that looks at the antecedent of one sentence of a pair only has found nothing."""
    sentences = gold_sentences(english_german, 256)
    assert len(sentences) == 2 * GOLD_PAIRS
    model = tiny_model(english_german)
    gold = gold_scores(model, sentences)
    assert gold.pairs == GOLD_PAIRS
    assert set(gold.antecedent) == {
        Head(kind, layer, head)
        for kind in (AttentionKind.ENCODER_SELF, AttentionKind.CROSS)
        for layer in range(2)
        for head in range(2)
    }
    # The same sentence twice: what is found in one is found in both.
    twins: list[PronounSentence] = [one for each in sentences[::2] for one in (each, each)]
    single = gold_scores(model, twins)
    assert any(share > 0 for share in single.antecedent.values())
    assert all(gold.antecedent[head] <= share for head, share in single.antecedent.items())


def tiny_model(tokenizer: Tokenizer) -> Transformer:
    config = dataclasses.replace(preset("tiny").model, vocab_size=tokenizer.vocab_size)
    model = Transformer(config)
    initialise(model, 1, 1.0)
    return model.eval()


def test_gold_scores_are_measured_where_the_grammar_is_learnt(
    tmp_path: Path, copies: RunConfig, english_german: Tokenizer
) -> None:
    folder = RunFolder.create(tmp_path / "run", copies, {})
    model = tiny_model(english_german).train()
    training = dataclasses.replace(copies.training, data=(copies.training.data[0], GRAMMAR))
    before = torch.get_rng_state()
    Probes(training, english_german, folder).record(model, 0)
    assert torch.equal(torch.get_rng_state(), before)
    assert model.training
    log = read_probe_log(folder.probe_log)
    assert log.pairs == len(gold_sentences(english_german, training.max_length)) // 2 > 0
    for head in log.heads:
        found = np.isnan(log.series(head, "antecedent")).all()
        assert found == (head.kind is AttentionKind.DECODER_SELF)
    assert not np.isnan(log.pronoun).any()


def test_gold_scores_are_not_measured_where_no_pronoun_is_learnt(
    tmp_path: Path, copies: RunConfig, english_german: Tokenizer
) -> None:
    folder = RunFolder.create(tmp_path / "run", copies, {})
    families = tuple(name for name in FAMILIES if name != "coreference")
    training = dataclasses.replace(copies.training, data=(GRAMMAR,), grammar_families=families)
    Probes(training, english_german, folder).record(tiny_model(english_german), 0)
    assert read_probe_log(folder.probe_log).pairs == 0


def test_a_vocabulary_that_cannot_spell_the_pairs_has_no_gold_scores(
    tmp_path: Path, copies: RunConfig
) -> None:
    tokenizer = train_tokenizer(["eins zwei drei", "drei eins zwei"], 30)
    assert gold_sentences(tokenizer, 256) == []
    folder = RunFolder.create(tmp_path / "run", copies, {})
    training = dataclasses.replace(copies.training, data=(GRAMMAR,))
    Probes(training, tokenizer, folder).record(tiny_model(tokenizer), 0)
    (line,) = folder.probe_log.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["gold"] is None


def test_pairs_longer_than_training_has_them_are_left_out(english_german: Tokenizer) -> None:
    some = gold_sentences(english_german, 45)
    assert 0 < len(some) < 2 * GOLD_PAIRS
    assert len(some) % 2 == 0
    assert all(max(len(one.source), len(one.target)) <= 45 for one in some)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"probes": ["eins", "\u200b"]}, "The probe '\\\\u200b' has no visible character"),
        (
            {"probes": ["eins " * 20], "positions": "learned", "max_positions": 10},
            r"has 21 tokens, more than max_positions = 10; shorten it, or set probe_points to 0",
        ),
    ],
)
def test_a_probe_that_cannot_be_traced_is_refused_before_the_run(
    tmp_path: Path, copies: RunConfig, settings: dict[str, object], message: str
) -> None:
    config = copies.with_settings(settings)
    with pytest.raises(UserError, match=message):
        start(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()
    training = dataclasses.replace(config.training, probe_points=0)
    require_traceable(training, train_tokenizer(["eins"], 10), config.model)
