"""Which measure tells a source word that a translation lacks? Figures of docs/results.md.

python docs/dropped_words.py MODEL

Of generated test sentences, one adjective or adverb is taken out of the right translation. Each
measure says how much of every content word the translation takes up; the area under the ROC curve
is how often it says less of the word that is missing than of one that is there.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.analysis.decomposition import decompose
from core.analysis.uptake import word_uptakes
from core.bundled import model_path
from core.checkpoints.native import Checkpoint, load_checkpoint
from core.corpus.grammar.generate import generate
from core.corpus.grammar.sentence import Sentence, detokenise, word_spans
from core.heads import AttentionKind
from core.text.words import words_of_pieces
from core.trace.record import trace_text
from core.trace.trace import Trace

SENTENCES = 150
DROPPED = ("adjective", "adverb")
CONTENT = {"noun", "verb", "adjective", "adverb", "name", "number"}

Floats = NDArray[np.float64]


def droppable(sentence: Sentence) -> int | None:
    """The last adjective or adverb that has target words of its own."""
    for word in reversed(range(len(sentence.source_words))):
        targets = {target for source, target in sentence.alignment if source == word}
        shared = {target for source, target in sentence.alignment if source != word}
        if sentence.source_tags[word] in DROPPED and targets and not targets & shared:
            return word
    return None


def pairs(sentence: Sentence, dropped: int) -> Iterator[tuple[str, int | None]]:
    """The whole translation, and the one that lacks a word."""
    yield sentence.target, None
    lost = {target for source, target in sentence.alignment if source == dropped}
    kept = [word for place, word in enumerate(sentence.target_words) if place not in lost]
    text = detokenise(kept)
    yield text[0].upper() + text[1:], dropped


def measures(checkpoint: Checkpoint, trace: Trace, words: Sequence[int]) -> dict[str, Floats]:
    """What each of them says of every source word: a map's sum over the rows, without the end."""
    moved = decompose(checkpoint.model, trace)
    layers = range(trace.layers(AttentionKind.CROSS))
    weights = [trace.layer_weights(AttentionKind.CROSS, layer) for layer in layers]
    maps = {"cross-attention weights, mean of all heads": np.concatenate(weights).mean(axis=0)}
    maps["cross-attention weights, largest of all heads"] = np.concatenate(weights).max(axis=0)
    norms = np.stack(moved.layer_norms[AttentionKind.CROSS])
    maps["norms, mean of all layers"] = (norms / norms.sum(axis=-1, keepdims=True)).mean(axis=0)
    for layer in layers:
        name = "the last" if layer == layers[-1] else f"decoder layer {layer + 1}"
        maps[f"ALTI+ after {name}"] = moved.alti.maps(AttentionKind.CROSS)[layer]
    of_word = np.equal.outer(np.arange(1 + max(words)), np.asarray(words))
    return {name: of_word @ each[:-1, :-1].sum(axis=0) for name, each in maps.items()}


def erasure(checkpoint: Checkpoint, trace: Trace, words: Sequence[int]) -> Floats:
    """u(w) of every source word; not a number of those that are not asked about."""
    target = [token.id for token in trace.predicted_tokens[:-1]]
    found = np.full(1 + max(words), np.nan)
    for one in word_uptakes(checkpoint.model, trace.source_tokens[:-1], target, ()):
        found[words[one.span.start]] = one.nats
    return found


def area(present: Sequence[float], missing: Sequence[float]) -> float:
    """How often a missing word is below one that is present; ties count half."""
    there, gone = np.asarray(present), np.asarray(missing)[:, None]
    return float((gone < there).mean() + 0.5 * (gone == there).mean())


def main(name: str) -> None:
    checkpoint = load_checkpoint(model_path(name))
    present, missing = defaultdict(list), defaultdict(list)
    for sentence in generate(SENTENCES, seed=5, split="test"):
        word = droppable(sentence)
        if word is None:
            continue
        for target, dropped in pairs(sentence, word):
            trace = trace_text(
                checkpoint.model, checkpoint.tokenizer, sentence.source, target=target
            )
            words = words_of_pieces(trace.source_tokens[:-1], word_spans(sentence.source_words))
            found = measures(checkpoint, trace, words)
            found["erasure, u(w)"] = erasure(checkpoint, trace, words)
            for place in set(words):
                if sentence.source_tags[place] in CONTENT:
                    kept = missing if place == dropped else present
                    for measure, values in found.items():
                        kept[measure].append(values[place])
    lost, there = (len(each["erasure, u(w)"]) for each in (missing, present))
    print(f"{lost} words that are missing, {there} that are there")
    for measure in present:
        print(f"{measure:<48} {area(present[measure], missing[measure]):.3f}")
    marked = [np.mean(np.asarray(each["erasure, u(w)"]) <= 0) for each in (missing, present)]
    print(f"u(w) ≤ 0: {100 * marked[0]:.0f}% of the missing, {100 * marked[1]:.1f}% of the others")


if __name__ == "__main__":
    main(*sys.argv[1:])
