"""Attention over training: what each head does on a few sentences, recorded as the model learns.

The decoder is fed the same translation at every step, where one is known, so that maps of different
steps can be compared cell by cell; what the model itself translates then is kept as text.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.config import ModelConfig
from core.corpus.grammar.generate import FAMILIES, minimal_pairs
from core.corpus.grammar.pairs import FAMILY as COREFERENCE
from core.decoding.config import SearchConfig
from core.decoding.translate import translate
from core.errors import UserError
from core.evaluation.pronouns import PronounSentence, as_pieces, observe
from core.model.transformer import Transformer
from core.statistics.rows import HeadStatistics, head_statistics
from core.text.tokenizer import Tokenizer
from core.trace.npz import save_npz
from core.trace.record import trace_text
from core.trace.trace import AttentionKind, Head, Trace
from core.training.config import GRAMMAR, TRANSLATION, TrainingConfig
from core.training.probe import Probe
from core.training.probe_log import Gold, log_line, read_probe_log
from core.training.run_folder import RunFolder
from core.training.validation import evaluating

# A model that has learnt nothing does not end its translations.
SEARCH = SearchConfig(max_extra=12)
# The same in every run, from the split that no run is trained on.
GOLD_PAIRS, GOLD_SEED = 40, 1


def probe_steps(steps: int, points: int) -> list[int]:
    """Return 0 and ``points`` steps evenly spaced in log(step) up to ``steps``: steps^(n / points).

    Those that round to the same are one.
    """
    if points == 0:
        return []
    return sorted({0, *(round(steps ** (n / points)) for n in range(1, points + 1))})


def require_traceable(config: TrainingConfig, tokenizer: Tokenizer, model: ModelConfig) -> None:
    """Raise a UserError if a probe is to be recorded that the model cannot read."""
    if config.probe_points == 0:
        return
    for text in (side for probe in config.probes for side in probe.split("\t")):
        length = len(tokenizer.encode(text)) + 1  # the end token
        if length == 1:
            raise UserError(f"The probe {text!r} has no visible character; enter a sentence.")
        if model.positions == "learned" and length > model.max_positions:
            raise UserError(
                f"The probe {text!r} has {length} tokens, more than max_positions = "
                f"{model.max_positions}; shorten it, or set probe_points to 0."
            )


class Probes:
    """Records attention into a run folder at the steps that are due, without drawing random
    numbers.

    Gold scores are measured where the run's data has sentences like those of the pairs: the
    generated corpus with its coreference family.
    """

    def __init__(self, config: TrainingConfig, tokenizer: Tokenizer, folder: RunFolder) -> None:
        self._sentences = [Probe.parse(text) for text in config.probes]
        self._tokenizer = tokenizer
        self._folder = folder
        self._due: set[int] = set()
        self._recorded: set[int] = set()
        self._gold: list[PronounSentence] = []
        self._on = bool(config.probes) and config.probe_points > 0
        if self._on:
            self._due = set(probe_steps(config.steps, config.probe_points))
            self._recorded = set(read_probe_log(folder.probe_log).steps.tolist())
            if self._has_pronouns(config):
                self._gold = gold_sentences(tokenizer, config.max_length)

    @staticmethod
    def _has_pronouns(config: TrainingConfig) -> bool:
        families = config.grammar_families or FAMILIES
        translates = GRAMMAR in config.data and config.task == TRANSLATION
        return translates and COREFERENCE in families

    def record(self, model: Transformer, step: int, *, last: bool = False) -> None:
        """Record traces and a line of statistics if ``step`` is due or the ``last`` one for now,
        and has not been recorded yet.

        Raises:
            UserError: a file cannot be written.
        """
        if not self._on or step in self._recorded or not (last or step in self._due):
            return
        self._recorded.add(step)
        with evaluating(model):
            sources = [probe.source for probe in self._sentences]
            own = [one.text for one in translate(model, self._tokenizer, sources, SEARCH)]
            traces = [
                trace_text(model, self._tokenizer, source, target=target, search=SEARCH)
                for source, target in self._sentences
            ]
            gold = gold_scores(model, self._gold) if self._gold else None
        for index, trace in enumerate(traces):
            path = self._folder.probe(step, index)
            path.parent.mkdir(exist_ok=True)
            save_npz(trace, path)
        # The line comes last: whoever reads it finds the traces.
        self._folder.append(self._folder.probe_log, log_line(step, _by_head(traces), gold, own))


def gold_sentences(tokenizer: Tokenizer, max_length: int) -> list[PronounSentence]:
    """Return both sentences of each minimal pair that the vocabulary spells and ``max_length``
    admits."""
    found: list[PronounSentence] = []
    for pair in minimal_pairs(GOLD_PAIRS, seed=GOLD_SEED, split="test"):
        pieces = [as_pieces(sentence, tokenizer) for sentence in pair]
        sides = [side for one in pieces for side in (one.source, one.target)]
        if all(tokenizer.unk_id not in ids and len(ids) <= max_length for ids in sides):
            found += pieces
    return found


def gold_scores(model: Transformer, sentences: Sequence[PronounSentence]) -> Gold:
    """Score ``model``, which is in evaluation mode; the sentences of each pair follow each
    other."""
    observed = observe(model, sentences)
    antecedent: dict[Head, float] = {}
    for kind, hit in (
        (AttentionKind.ENCODER_SELF, observed.encoder_hit),
        (AttentionKind.CROSS, observed.cross_hit),
    ):
        shares = (hit[0::2] & hit[1::2]).mean(axis=0)  # [L, H]
        for layer, row in enumerate(shares.tolist()):
            for head in model.config.kept_heads(kind, layer):
                antecedent[Head(kind, layer, head)] = row[head]
    both = observed.predicted[0::2] & observed.predicted[1::2]
    return Gold(pairs=len(both), pronoun=float(both.mean()), antecedent=antecedent)


def _by_head(traces: Sequence[Trace]) -> list[tuple[Head, list[HeadStatistics]]]:
    first = traces[0]
    heads = [head for kind in first.kinds for head in first.every_head(kind)]
    return [(head, [head_statistics(trace, *head) for trace in traces]) for head in heads]
