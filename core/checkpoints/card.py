"""Model cards: what a model's file says about it, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.checkpoints.header import Header
from core.checkpoints.split import split_of
from core.config import ModelConfig

_GOLD_SHARES = (
    ("pronoun after a correct beginning", "pronoun_forced"),
    ("pronoun in the translation", "pronoun_decoded"),
)
_GOLD_HEADS = (("encoder self-attention", "encoder_head"), ("cross-attention", "cross_head"))


def model_card(name: str, header: Header) -> str:
    """Return shape, data, licence, recipe, scores and software, as far as the file states them."""
    return "\n".join(_lines(name, header)) + "\n"


def _lines(name: str, header: Header) -> Iterator[str]:
    model, about = header.config, header.provenance
    yield f"# {name}"
    yield ""
    yield (
        f"A Transformer with {header.parameters:,} parameters: {model.encoder_layers} + "
        f"{model.decoder_layers} layers, d_model {model.d_model}, {model.encoder_heads} + "
        f"{model.decoder_heads} heads{_pruned(model)}, d_ff {model.encoder_d_ff}, "
        f"{model.norm}-norm, {model.positions} positions, "
        f"{_pieces(model)}."
    )
    yield from _table(
        "Origin",
        {
            "imported from": about.get("imported"),
            "source": about.get("source"),
            "revision": about.get("revision"),
            "languages": " to ".join(about.get("languages", ())),
            "positions": about.get("positions"),
            "task": about.get("task"),
            "data": ", ".join(about.get("data", ())),
            "licence": about.get("licence"),
            "command": f"`{about['command']}`" if "command" in about else None,
            "began with": _started_from(about.get("started_from")),
            "seed": about.get("seed"),
            "updates": f"{about['step']:,}" if "step" in about else None,
            "weights": f"average of the last {about['averaged']} checkpoints"
            if "averaged" in about
            else None,
        },
    )
    scores = about.get("scores", {})
    for test_set, score in scores.items():
        if isinstance(score, Mapping) and "bleu" in score:
            split = score.get("split") or split_of(test_set, about)
            of = f", {split} data" if split else ""
            yield from _table(f"Scores on {test_set}{of}", _references(score))
    if "doubts" in scores:
        yield from _doubts(scores["doubts"])
    if "parsing" in scores:
        yield from _parsing(scores["parsing"])
    if "gold" in scores:
        yield from _gold(scores["gold"])
    recipe = {key: _value(value) for key, value in about.get("training", {}).items()}
    yield from _table("Recipe", recipe)
    yield from _table("Software", about.get("software", {}))


def _started_from(parent: Any) -> str | None:
    """Return the model that the run began with, its own origin in brackets."""
    if not isinstance(parent, Mapping):
        return None
    own = [f"`{parent['command']}`"] if "command" in parent else []
    own += [f"{parent['step']:,} updates"] if isinstance(parent.get("step"), int) else []
    own += [f"mean of {parent['averaged']} checkpoints"] if "averaged" in parent else []
    return f"{parent.get('file', 'a model')} ({', '.join(own)})"


def _pieces(model: ModelConfig) -> str:
    if model.target_vocab_size is None:
        return f"{model.vocab_size:,} pieces for both languages"
    return (
        f"{model.vocab_size:,} pieces for the source and {model.target_vocab_size:,} for the target"
    )


def _pruned(model: ModelConfig) -> str:
    return f" (before {len(model.pruned_heads)} were pruned)" if model.pruned_heads else ""


def _references(score: Mapping[str, Any]) -> dict[str, str]:
    return {
        "sentences": f"{score['sentences']:,}",
        "search": _search(score),
        "BLEU": f"{score['bleu']:.1f} `{score['bleu_signature']}`",
        "chrF": f"{score['chrf']:.1f} `{score['chrf_signature']}`",
    }


def _doubts(doubts: Mapping[str, Any]) -> Iterator[str]:
    rates = {
        f"bad (chrF below {doubts['bad_below']:g})": doubts.get("bad"),
        "marked as probably wrong": doubts.get("marked"),
        "· of these, bad": doubts.get("marked_bad"),
        "· of the others, not bad": doubts.get("unmarked_right"),
    }
    yield from _table(
        f"Translations marked as probably wrong, on every other sentence of {doubts['corpus']}",
        {
            "sentences": f"{doubts['sentences']:,}",
            "marked from": f"{doubts['threshold']:g} doubts per word",
            **{name: f"{rate:.0f}%" for name, rate in rates.items() if _is_number(rate)},
        },
    )


_TREE_PARTS = {
    "trees": "",
    "held_out_words": "held-out combinations of words: ",
    "held_out_patterns": "held-out patterns: ",
}


def _parsing(scores: Mapping[str, Any]) -> Iterator[str]:
    rows: dict[str, Any] = {"search": _search(scores)}
    for part, of in _TREE_PARTS.items():
        if part in scores:
            score = scores[part]
            rows |= {
                f"{of}sentences": f"{score['sentences']:,}",
                f"{of}F1": f"{score['f1']:.2f}",
                f"{of}precision": f"{score['precision']:.2f}",
                f"{of}recall": f"{score['recall']:.2f}",
                f"{of}every bracket right": f"{score['exact']:.1f}%",
                f"{of}repaired": f"{score['repaired']:,}",
                f"{of}best output no tree, a later one taken": score.get("passed_over"),
            }
    yield from _table(f"Labelled brackets of gold trees: {scores['gold']}", rows)


def _gold(gold: Mapping[str, Any]) -> Iterator[str]:
    yield from _table(
        "Scores on the generated test split",
        {
            "search": _search(gold),
            "exact translations": f"{gold['exact']:.1f}% of {gold['sentences']:,}",
            **{f"· {family}": f"{share:.1f}%" for family, share in gold["exact_by_family"].items()},
        },
    )
    yield ""
    yield f"## What “it” refers to: {gold['pairs']:,} held-out minimal pairs"
    yield ""
    yield "| | first sentence | second | both |"
    yield "| --- | ---: | ---: | ---: |"
    for title, key in _GOLD_SHARES:
        yield _pair_row(title, gold[key])
    for title, key in _GOLD_HEADS:
        head = gold[key]
        if head is None:
            continue
        place = f"layer {head['layer'] + 1}, head {head['head'] + 1}"
        yield _pair_row(f"{title}, {place}: most weight on the antecedent", head["antecedent"])
    yield ""
    yield "The heads were chosen on pairs from the training split."


def _pair_row(title: str, score: Mapping[str, float]) -> str:
    return f"| {title} | {score['first']:.1f}% | {score['second']:.1f}% | {score['both']:.1f}% |"


def _search(score: Mapping[str, Any]) -> str:
    if score["beam"] == 1:
        return "greedy"
    penalty = score.get("penalty")
    if penalty == "none":
        return f"beam {score['beam']}, no length penalty"
    form = "length penalty |Y|^α with" if penalty == "length" else "length penalty"
    return f"beam {score['beam']}, {form} α = {score['alpha']}"


def _table(title: str, rows: Mapping[str, Any]) -> Iterator[str]:
    present = {key: value for key, value in rows.items() if value not in (None, "")}
    if present:
        yield ""
        yield f"## {title}"
        yield ""
        yield "| | |"
        yield "| --- | --- |"
        yield from (f"| {key} | {value} |" for key, value in present.items())


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
