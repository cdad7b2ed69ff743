"""Table 2 of the paper: quality on newstest2014 against the cost of training.

Quoted as printed, an empty cell as None. The floating-point operations are the paper's estimates
(section 6.1), of which `core.paper.training_cost` says how they were made.
"""

from __future__ import annotations

from dataclasses import dataclass

PROSE_BLEU_FR = 41.0
"""Of the big model in the text of section 6.1."""
CONTRADICTION = (
    "For the big model from English to French, Table 2 and the abstract say BLEU 41.8, the text of "
    f"section 6.1 says {PROSE_BLEU_FR}."
)


@dataclass(frozen=True, slots=True)
class System:
    """A row of Table 2.

    Attributes:
        name: as the paper calls it.
        bleu_de, bleu_fr: BLEU from English to German and to French.
        flops_de, flops_fr: floating-point operations of training, for either pair.
        ensemble: whether several models translate together.
        ours: whether it is the paper's own model.
    """

    name: str
    bleu_de: float | None = None
    bleu_fr: float | None = None
    flops_de: float | None = None
    flops_fr: float | None = None
    ensemble: bool = False
    ours: bool = False


SYSTEMS = (
    System("ByteNet", 23.75),
    System("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    System("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    System("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    System("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    System("Deep-Att + PosUnk ensemble", None, 40.4, None, 8.0e20, ensemble=True),
    System("GNMT + RL ensemble", 26.30, 41.16, 1.8e20, 1.1e21, ensemble=True),
    System("ConvS2S ensemble", 26.36, 41.29, 7.7e19, 1.2e21, ensemble=True),
    System("Transformer base", 27.3, 38.1, 3.3e18, 3.3e18, ours=True),
    System("Transformer big", 28.4, 41.8, 2.3e19, 2.3e19, ours=True),
)
"""In the order of the table. It gives the Transformer one figure of cost for both pairs."""
