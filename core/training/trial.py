"""How long a run will take, told by a few of its updates.

The model is the configured one; the pairs are the first of the configured data, with a vocabulary
learned from them alone. What is written, to see how long that takes, is gone at the end.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from core.checkpoints.native import save_checkpoint
from core.corpus.batching import plan_batches
from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence
from core.corpus.ragged import Indices
from core.decoding.config import SearchConfig
from core.decoding.translate import best_hypotheses
from core.device import available_threads, choose_device
from core.errors import UserError
from core.model.initialisation import initialise
from core.model.measuring import use_best
from core.model.transformer import Transformer
from core.parsing.reader import Inventory, take_inventory
from core.text.sentence_pieces import train_tokenizer
from core.text.tokenizer import Tokenizer
from core.training.batch import make_batch
from core.training.config import GRAMMAR, PARSING, RunConfig, TrainingConfig
from core.training.encoding import encode_pair, fits
from core.training.gloss import GlossEncoder
from core.training.machine import told_if_too_large
from core.training.pairs import EncodedPairs
from core.training.starting_point import StartingPoint
from core.training.state import Position, save_state
from core.training.texts import Reader, open_reader, sides
from core.training.updater import Updater
from core.training.validation import evaluating, mean_loss

Pair = tuple[str, str]

COUNTED = 100_000  # of each file; it is long enough then to be told from its bytes
SAMPLE = 4_000  # pairs of each source of data
FIRST_BUDGET = 512  # tokens of a batch that is surely quick; then larger ones, up to the whole
LONG_ENOUGH = 0.5  # seconds of an update that tells how fast the larger ones are
TIMED = 3
VALIDATED = 64
MOST_SECONDS = 10.0  # of the updates that count


@dataclass(frozen=True, slots=True)
class Trial:
    """The times and speeds of a few updates; ``seconds_per_update`` is for full updates, even if
    smaller ones were timed.

    ``bf16_speedup``: how many times as fast an update in bf16 is, where that is not asked for and
    the device is made for it; None elsewhere. ``data``: what was found in each file, as far as it
    was read.
    """

    seconds_per_update: float
    seconds_per_validation: float
    seconds_per_checkpoint: float
    updates_per_epoch: int
    bf16_speedup: float | None
    device: str
    data: list[str]

    def seconds(self, training: TrainingConfig) -> float:
        """Estimate the duration of the whole run, including one more validation of the result."""
        validations = math.ceil(training.steps / training.validate_every) + 1
        checkpoints = math.ceil(training.steps / training.checkpoint_every)
        return (
            training.steps * self.seconds_per_update
            + validations * self.seconds_per_validation
            + checkpoints * self.seconds_per_checkpoint
        )


def try_run(config: RunConfig) -> Trial:
    """Time a few updates.

    Raises:
        UserError: the data cannot be read or used, or the device is not there.
    """
    training = config.training
    device = choose_device(training.device)
    torch.set_num_threads(training.threads or available_threads())
    if device.type == "cpu":
        products = use_best(training.product)
        torch.set_num_threads(
            training.threads or products.training_threads or torch.get_num_threads()
        )
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high" if training.tf32 else "highest")
    sample, pairs_per_epoch, found = _sample(training)
    start = StartingPoint.of(config)
    config = start.shaped(config) if start else config
    tokenizer = start.tokenizer if start else _tokenizer(sample, config)
    pairs = _encode(sample, config, tokenizer)
    with told_if_too_large(config):
        model = Transformer(config.model)
        initialise(model, training.seed, training.init_scale)
        model.to(device, torch.float64 if training.precision == "fp64" else torch.float32)
    model.train()
    updater = Updater(model, training)
    seconds, tokens = _time(updater, pairs)
    batches = len(_plan(pairs, training, _whole(training)))
    tokens_of_batch = int(pairs.target.lengths.sum()) / batches
    batches_of_epoch = pairs_per_epoch / len(sample) * batches
    return Trial(
        seconds_per_update=seconds / tokens * tokens_of_batch * training.accumulation,
        seconds_per_validation=_time_validation(model, tokenizer, sample, training),
        seconds_per_checkpoint=_time_checkpoint(updater, tokenizer, config),
        updates_per_epoch=max(1, math.ceil(batches_of_epoch / training.accumulation)),
        bf16_speedup=_bf16_speedup(updater, pairs),
        device=str(device),
        data=found,
    )


def _sample(training: TrainingConfig) -> tuple[list[Sentence | Pair], int, list[str]]:
    """The first pairs of each source of data, how many there are in all, about, and what was found
    in the files."""
    found: list[Sentence | Pair] = []
    total = 0
    reports = []
    for spec in training.data:
        if spec == GRAMMAR:
            wanted = min(SAMPLE, training.grammar_pairs)
            sentences = generate(
                wanted,
                seed=training.seed,
                split="train",
                families=training.grammar_families or None,
                wide=training.grammar_wide,
            )
            parsing = training.task == PARSING
            found += [sides(one, training) for one in sentences] if parsing else sentences
            total += training.grammar_pairs
        else:
            reader = open_reader(spec, training)
            pairs, number = _first_pairs(reader)
            found += pairs
            total += number
            reports.append(reader.report.summary())
    return found, total, reports


def _first_pairs(reader: Reader) -> tuple[list[Pair], int]:
    """Some pairs, and how many there are: counted, or told by the share of bytes read so far."""
    pairs: list[Pair] = []
    for number, (_, source, target) in enumerate(reader, start=1):
        if number <= SAMPLE:
            pairs.append((source, target))
        elif number == COUNTED:
            return pairs, round(number * reader.size / reader.position)
    return pairs, reader.report.pairs


def _texts(sample: Sequence[Sentence | Pair]) -> list[Pair]:
    return [pair if isinstance(pair, tuple) else (pair.source, pair.target) for pair in sample]


def _tokenizer(sample: Sequence[Sentence | Pair], config: RunConfig) -> Tokenizer:
    texts = _texts(sample)
    parsing = config.training.task == PARSING
    names = take_inventory(target for _, target in texts) if parsing else Inventory()
    return train_tokenizer(chain.from_iterable(texts), config.model.vocab_size, names.divided)


def _encode(
    sample: Sequence[Sentence | Pair], config: RunConfig, tokenizer: Tokenizer
) -> EncodedPairs:
    training = config.training
    glosses = GlossEncoder(tokenizer) if training.gloss_weight > 0 else None
    encoded = [
        encode_pair(*text, tokenizer)
        if glosses is None or isinstance(pair, tuple)
        else glosses.encode(pair)
        for pair, text in zip(sample, _texts(sample), strict=True)
    ]
    fitting = [pair for pair in encoded if fits(pair, training.max_length)]
    if not fitting:
        raise UserError(
            f"Each of the first pairs has more than {training.max_length} tokens on a side; "
            "increase max_length."
        )
    return EncodedPairs.pack(fitting)


def _whole(training: TrainingConfig) -> int:
    return max(training.source_batch_tokens, training.target_batch_tokens)


def _plan(pairs: EncodedPairs, training: TrainingConfig, budget: int) -> list[Indices]:
    return plan_batches(
        pairs.source.lengths,
        pairs.target.lengths,
        source_budget=min(budget, training.source_batch_tokens),
        target_budget=min(budget, training.target_batch_tokens),
        seed=training.seed,
        epoch=0,
    )


def _time(updater: Updater, pairs: EncodedPairs) -> tuple[float, int]:
    """Seconds and target tokens of the updates that count."""
    training = updater.config
    numbers = count(1)

    def update(indices: Indices) -> tuple[float, int]:
        began = time.monotonic()
        batch = make_batch(pairs, indices, updater.model.config, updater.device)
        updater.apply([batch], next(numbers))
        return time.monotonic() - began, batch.tokens

    budget = min(_whole(training), max(FIRST_BUDGET, training.max_length))
    update(_plan(pairs, training, budget)[0])  # what is made once is made here
    while update(_plan(pairs, training, budget)[0])[0] < LONG_ENOUGH:
        if budget == _whole(training):
            break
        budget = min(_whole(training), 4 * budget)
    seconds, tokens = 0.0, 0
    for indices in _plan(pairs, training, budget)[:TIMED]:
        more_seconds, more_tokens = update(indices)
        seconds, tokens = seconds + more_seconds, tokens + more_tokens
        if seconds > MOST_SECONDS:
            break
    return seconds, tokens


def _bf16_speedup(updater: Updater, pairs: EncodedPairs) -> float | None:
    """By the better of two updates each on a small batch, after one that does not count."""
    training, device = updater.config, updater.device
    if training.precision != "fp32" or not _is_made_for_bf16(device):
        return None
    budget = min(_whole(training), max(FIRST_BUDGET, training.max_length))
    indices = _plan(pairs, training, budget)[0]
    batch = make_batch(pairs, indices, updater.model.config, device)
    seconds = dict.fromkeys(("fp32", "bf16"), math.inf)
    for number in range(1, 4):
        for precision in seconds:
            updater.config = dataclasses.replace(training, precision=precision)
            began = time.monotonic()
            updater.apply([batch], number)
            if number > 1:
                seconds[precision] = min(seconds[precision], time.monotonic() - began)
    updater.config = training
    return seconds["fp32"] / seconds["bf16"]


def _is_made_for_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        supported: bool = torch.cuda.is_bf16_supported(including_emulation=False)
        return supported
    if device.type != "cpu" or not hasattr(torch.cpu, "get_capabilities"):  # before torch 2.13
        return False
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def _time_validation(
    model: Transformer,
    tokenizer: Tokenizer,
    sample: Sequence[Sentence | Pair],
    training: TrainingConfig,
) -> float:
    """Seconds for all validation pairs, by the loss and the outputs of some.

    Outputs are as long as their sources, because an untrained model does not end by itself. They
    stay ids: a sample can be too small for as many pieces as the model has.
    """
    texts = _texts(sample)[:VALIDATED]
    pairs = EncodedPairs.pack([encode_pair(*text, tokenizer) for text in texts])
    budget = min(training.source_batch_tokens, training.target_batch_tokens)
    began = time.monotonic()
    with evaluating(model):
        mean_loss(model, pairs, budget)
        sources = [tokenizer.encode(source) for source, _ in texts]
        best_hypotheses(model, sources, SearchConfig(max_extra=0))
    return (time.monotonic() - began) / len(texts) * _validation_pairs(training)


def _validation_pairs(training: TrainingConfig) -> int:
    """About: of a file at most a tenth is held out, but files are not read to their end here."""
    if not training.validation:
        return len(training.data) * training.validation_pairs
    return sum(_first_pairs(open_reader(spec, training))[1] for spec in training.validation)


def _time_checkpoint(updater: Updater, tokenizer: Tokenizer, config: RunConfig) -> float:
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        save_checkpoint(Path(folder, "model.safetensors"), updater.model, tokenizer, {})
        state = Path(folder, "state.safetensors")
        save_state(state, updater, tokenizer, config, Position())
        return time.monotonic() - began
