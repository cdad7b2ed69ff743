"""How a model is trained, as one immutable value that checks itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.config import ModelConfig
from core.errors import UserError
from core.fields import from_mapping, require, require_choice, require_share
from core.model.product_choice import AUTO, WISHES
from core.training.probe import LONGEST_PROBE, is_probe

GRAMMAR = "grammar"
TRANSLATION, PARSING = TASKS = ("translation", "parsing")
PRECISIONS = ("fp32", "bf16", "fp16", "fp64")
BEST_BY = ("valid_loss", "bleu")
# What may be changed in a run: neither losses nor weights depend on it. Files may have moved; that
# they hold the same is checked apart.
MAY_CHANGE = {
    *("data", "validation", "licence", "steps", "early_stopping", "keep_best"),
    *("keep_checkpoints", "average_last", "probes", "probe_points", "tensorboard"),
}
PROBES = (
    "The animal didn't cross the street because it was too tired."
    "\tDas Tier überquerte die Straße nicht, weil es zu müde war.",
    "The animal didn't cross the street because it was too wide."
    "\tDas Tier überquerte die Straße nicht, weil sie zu breit war.",
)
MOST_PROBES = 16
_MOST = {
    **dict.fromkeys(("steps", "warmup"), 1_000_000_000),
    **dict.fromkeys(("log_every", "validate_every", "checkpoint_every"), 1_000_000_000),
    **dict.fromkeys(("source_batch_tokens", "target_batch_tokens"), 100_000_000),
    **dict.fromkeys(("accumulation", "keep_checkpoints", "average_last", "keep_best"), 1_000_000),
    "grammar_pairs": 100_000_000,
    "validation_pairs": 1_000_000,
    "probe_points": 1_000,
    "threads": 1_024,
}
"""More is a slip of the hand, and would fill the memory or never end."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The training settings; the defaults are the paper's recipe for the base model (section 5).

    Attributes:
        task: "translation", or "parsing": the target is the source's linearised tree, and files
            hold bracketed trees. See ``core.parsing``.
        data: where pairs come from: "grammar", "FILE.tsv", "FILE.tmx" or "SOURCE,TARGET", or
            several of them.
        validation: files to validate on; without any, a part of each source of ``data`` that
            training never sees.
        validation_pairs: at most this many sentences of each source of ``data``.
        licence: of the files in ``data``; it is written into the model.
        grammar_pairs: pairs generated for an epoch, new ones every time.
        grammar_families: kinds of sentences that are generated; empty for all of them.
        grammar_wide: draw from the whole lexicon, with the words that were added for models which
            translate ordinary text as well.
        whole_words: words that shall be one piece of the vocabulary even where the data has them
            seldom, such as those of sentences that are to be shown.
        max_length: pairs with a side of more tokens are left out.
        source_batch_tokens, target_batch_tokens: of a batch, padding included.
        accumulation: batches of one update.
        peak_factor: on the paper's learning rate.
        cooldown: last share of the updates, in which the learning rate falls linearly to zero.
        clip_norm: largest norm of the gradient; None for any.
        gloss_weight: how many target tokens a gloss counts for; 0 trains without. See
            ``core.training.gloss``.
        start_from: a model file of this program whose vocabulary, shape (but for the dropout) and
            weights the run begins with; None begins with new ones.
        init_scale: factor on W^V, W^O, W_1 and W_2 at the start. Below 1 keeps the encoder's
            outputs at different positions from growing alike before it has learnt anything.
        early_stopping: validations in a row without a better one that end the run; None for no
            such end.
        best_by: what makes a validation better, "valid_loss" (lower) or "bleu" (higher).
        keep_best: models of the best validations that stay in the run folder.
        keep_checkpoints: the newest that stay in the run folder.
        average_last: checkpoints whose mean becomes the run's model.
        device: "auto", "cpu", "cuda", "cuda:1" … or "mps".
        precision: "fp32"; "bf16" for matrix products in half the bits, on CUDA or on a processor
            that is made for them; "fp16" for the same on CUDA, with a loss that is scaled so that
            small gradients stay above zero; "fp64" for all of the model, which is slow and serves
            comparisons.
        tf32: on CUDA, round the factors of float32 matrix products to 10 bits of mantissa.
        compile: by torch.compile: slower to start, faster to run on a GPU.
        probes: sentences whose attention is recorded while the model learns, each with its
            translation after a tab where there is one; see ``core.training.probes``.
        probe_points: how often, evenly in the logarithm of the step, besides once at the start;
            0 records nothing.
        threads: of the CPU; None for as many as are measured to be fastest. Sums depend on it in
            the last bit, so a run keeps it.
        product: which kernel computes matrix products in float32 on a CPU: "auto" for the fastest,
            or one of ``core.model.product_choice.KERNELS``. Sums depend on it in the last bit; what
            was chosen is in run.json, and a run keeps it.
        tensorboard: write the curves for TensorBoard too, into the run folder.
    """

    task: str = TRANSLATION
    data: tuple[str, ...] = (GRAMMAR,)
    validation: tuple[str, ...] = ()
    validation_pairs: int = 500
    licence: str | None = None
    grammar_pairs: int = 20_000
    grammar_families: tuple[str, ...] = ()
    grammar_wide: bool = False
    whole_words: tuple[str, ...] = ()
    max_length: int = 256
    source_batch_tokens: int = 25_000
    target_batch_tokens: int = 25_000
    accumulation: int = 1
    steps: int = 100_000
    warmup: int = 4_000
    peak_factor: float = 1.0
    cooldown: float = 0.0
    label_smoothing: float = 0.1
    adam_beta1: float = 0.9
    adam_beta2: float = 0.98
    adam_epsilon: float = 1e-9
    clip_norm: float | None = None
    gloss_weight: float = 0.0
    start_from: str | None = None
    init_scale: float = 1.0
    seed: int = 1
    log_every: int = 50
    validate_every: int = 1_000
    checkpoint_every: int = 1_500
    early_stopping: int | None = None
    best_by: str = "valid_loss"
    keep_best: int = 0
    keep_checkpoints: int = 5
    average_last: int = 5
    probes: tuple[str, ...] = PROBES
    probe_points: int = 24
    device: str = "auto"
    precision: str = "fp32"
    tf32: bool = True
    compile: bool = False
    threads: int | None = None
    product: str = AUTO
    tensorboard: bool = False

    def __post_init__(self) -> None:
        require(
            len(self.data) > 0 and all(isinstance(spec, str) and spec for spec in self.data),
            "data",
            self.data,
            f"{GRAMMAR}, FILE.tsv, FILE.tmx or SOURCE,TARGET",
        )
        require(
            all(isinstance(spec, str) and spec and spec != GRAMMAR for spec in self.validation),
            "validation",
            self.validation,
            "FILE.tsv, FILE.tmx or SOURCE,TARGET",
        )
        for field in (
            "validation_pairs",
            "grammar_pairs",
            "source_batch_tokens",
            "target_batch_tokens",
            "accumulation",
            "steps",
            "log_every",
            "validate_every",
            "checkpoint_every",
            "keep_checkpoints",
            "average_last",
        ):
            require(getattr(self, field) >= 1, field, getattr(self, field), "1 or more")
        require(
            len(self.probes) <= MOST_PROBES and all(map(is_probe, self.probes)),
            "probes",
            self.probes,
            f"up to {MOST_PROBES} sentences of up to {LONGEST_PROBE} characters, none empty, each "
            "alone or with its translation after one tab",
        )
        require(
            all(word and not any(map(str.isspace, word)) for word in self.whole_words),
            "whole_words",
            self.whole_words,
            "words, each without a space",
        )
        self._require_families()
        for field, most in _MOST.items():
            require(
                (getattr(self, field) or 0) <= most,
                field,
                getattr(self, field),
                f"{most:,} at most",
            )
        for field in ("seed", "gloss_weight", "keep_best", "probe_points"):
            require(getattr(self, field) >= 0, field, getattr(self, field), "0 or more")
        require(
            self.warmup >= 1,
            "warmup",
            self.warmup,
            "1 or more, because without warmup the first updates are too large to recover from",
        )
        for field in ("peak_factor", "adam_epsilon", "init_scale"):
            require(getattr(self, field) > 0, field, getattr(self, field), "above 0")
        for field in ("label_smoothing", "adam_beta1", "adam_beta2", "cooldown"):
            require_share(field, getattr(self, field))
        budget = min(self.source_batch_tokens, self.target_batch_tokens)
        require(
            2 <= self.max_length <= budget,
            "max_length",
            self.max_length,
            f"2 to {budget}, the smaller of source_batch_tokens and target_batch_tokens, so that "
            "the longest sentence fits into a batch",
        )
        require(
            self.clip_norm is None or self.clip_norm > 0,
            "clip_norm",
            self.clip_norm,
            "above 0, or null",
        )
        require(
            self.average_last <= self.keep_checkpoints,
            "average_last",
            self.average_last,
            f"at most keep_checkpoints = {self.keep_checkpoints}",
        )
        require(
            self.threads is None or self.threads >= 1, "threads", self.threads, "1 or more, or null"
        )
        require(
            self.early_stopping is None or self.early_stopping >= 1,
            "early_stopping",
            self.early_stopping,
            "1 or more, or null",
        )
        require_choice("task", self.task, TASKS)
        require(
            self.task == TRANSLATION or self.gloss_weight == 0,
            "gloss_weight",
            self.gloss_weight,
            "0 for parsing, because glosses are translations of words",
        )
        require_choice("best_by", self.best_by, BEST_BY)
        require_choice("precision", self.precision, PRECISIONS)
        require_choice("product", self.product, WISHES)
        require(
            self.device in ("auto", "cpu", "cuda", "mps")
            or (self.device.startswith("cuda:") and self.device[5:].isdecimal()),
            "device",
            self.device,
            "auto, cpu, cuda, cuda:N, mps",
        )

    def _require_families(self) -> None:
        if self.grammar_families:
            from core.corpus.grammar.registry import FAMILIES  # its lexicon is not small

            unique = set(self.grammar_families)
            require(
                unique <= set(FAMILIES) and len(unique) == len(self.grammar_families),
                "grammar_families",
                self.grammar_families,
                f"each once of {', '.join(FAMILIES)}",
            )

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """Build the settings; raises UserError for an unknown key, a wrong type or an invalid
        value."""
        return from_mapping(cls, values)


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A model and how it is trained.

    ``model.vocab_size`` is what is asked of the tokenizer; a small corpus can give fewer pieces,
    and the trained model then has as many rows as there are.
    """

    model: ModelConfig
    training: TrainingConfig

    def __post_init__(self) -> None:
        model = self.model
        for field in ("target_vocab_size", "suppressed_ids", "unchosen_ids"):
            allowed = (
                "nothing, because a run learns one vocabulary and each of its pieces can be an "
                "output"
            )
            require(not getattr(model, field), field, getattr(model, field), allowed)

    def with_settings(self, settings: Mapping[str, Any]) -> RunConfig:
        """Return a copy with some settings of either section changed.

        Raises:
            UserError: a name that neither part has, or a value that is not allowed.
        """
        model, training = self.model.to_dict(), self.training.to_dict()
        for name, value in settings.items():
            if name not in model and name not in training:
                names = ", ".join(sorted([*model, *training]))
                raise UserError(f"There is no setting {name!r}; choose from: {names}.")
            (model if name in model else training)[name] = value
        return RunConfig(
            model=ModelConfig.from_dict(model), training=TrainingConfig.from_dict(training)
        )

    def differences(self, other: RunConfig) -> dict[str, tuple[Any, Any]]:
        """Return the settings that differ, each with the value here and the one there."""
        mine = self.model.to_dict() | self.training.to_dict()
        theirs = other.model.to_dict() | other.training.to_dict()
        return {
            name: (value, theirs[name]) for name, value in mine.items() if value != theirs[name]
        }

    def to_dict(self) -> dict[str, Any]:
        return {"model": self.model.to_dict(), "training": self.training.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """Build a configuration; raises UserError unless there are exactly two valid sections,
        "model" and "training"."""
        for part in ("model", "training"):
            if not isinstance(values.get(part), Mapping):
                raise UserError(f'A configuration needs the section "{part}": {{…}}.')
        unknown = sorted(set(values) - {"model", "training"})
        if unknown:
            raise UserError(
                f"A configuration has the sections model and training; remove {unknown[0]!r}."
            )
        return cls(
            model=ModelConfig.from_dict(values["model"]),
            training=TrainingConfig.from_dict(values["training"]),
        )
