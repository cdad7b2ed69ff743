"""Table 3 of the paper: what changes when one part of the base model does, on newstest2013.

All rows translate from English to German with beam search, without averaged checkpoints, and their
perplexities are per word piece, so that they cannot be compared with other programs' (section 6.2).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variation:
    """A row of Table 3.

    Attributes:
        preset: the preset of the same shape.
        group: the letter of the paper; empty for the base and the big model.
        change: what differs from the base model.
        perplexity, bleu: as printed.
        millions: parameters as printed, in millions; None where the paper leaves the cell empty,
            which means about as many as the base model has.
    """

    preset: str
    group: str
    change: str
    perplexity: float
    bleu: float
    millions: int | None = None


VARIATIONS = (
    Variation("base", "", "the base model", 4.92, 25.8, 65),
    Variation("a-heads-1", "A", "1 head, d_k = d_v = 512", 5.29, 24.9),
    Variation("a-heads-4", "A", "4 heads, d_k = d_v = 128", 5.00, 25.5),
    Variation("a-heads-16", "A", "16 heads, d_k = d_v = 32", 4.91, 25.8),
    Variation("a-heads-32", "A", "32 heads, d_k = d_v = 16", 5.01, 25.4),
    Variation("b-dk-16", "B", "d_k = 16", 5.16, 25.1, 58),
    Variation("b-dk-32", "B", "d_k = 32", 5.01, 25.4, 60),
    Variation("c-layers-2", "C", "2 layers", 6.11, 23.7, 36),
    Variation("c-layers-4", "C", "4 layers", 5.19, 25.3, 50),
    Variation("c-layers-8", "C", "8 layers", 4.88, 25.5, 80),
    Variation("c-d_model-256", "C", "d_model = 256, d_k = d_v = 32", 5.75, 24.5, 28),
    Variation("c-d_model-1024", "C", "d_model = 1024, d_k = d_v = 128", 4.66, 26.0, 168),
    Variation("c-d_ff-1024", "C", "d_ff = 1024", 5.12, 25.4, 53),
    Variation("c-d_ff-4096", "C", "d_ff = 4096", 4.75, 26.2, 90),
    Variation("d-dropout-0.0", "D", "no dropout", 5.77, 24.6),
    Variation("d-dropout-0.2", "D", "dropout 0.2", 4.95, 25.5),
    Variation("d-smoothing-0.0", "D", "no label smoothing", 4.67, 25.3),
    Variation("d-smoothing-0.2", "D", "label smoothing 0.2", 5.47, 25.7),
    Variation("e-learned", "E", "learned positions", 4.92, 25.7),
    Variation("big", "", "the big model: 16 heads, dropout 0.3, 300,000 updates", 4.33, 26.4, 213),
)
"""In the order of the table."""

FINDINGS = {
    "A": "One head is 0.9 BLEU worse than the best setting, and too many heads lose quality too.",
    "B": "Smaller keys hurt; the paper suspects that compatibility is not easy to determine.",
    "C": "Bigger models are better.",
    "D": "Dropout is very helpful against over-fitting.",
    "E": "Learned positions give nearly the same result as sinusoidal ones.",
}
"""What the paper says of each group (section 6.2), in other words."""
