"""What the user can choose about the window and its pictures, the same for every view."""

from dataclasses import dataclass
from enum import StrEnum


class Quantity(StrEnum):
    """What the large maps show; always named beside the colour bar."""

    WEIGHT = "weight"
    NORM = "norm"  # of what each head moved
    LAYER_NORM = "layer_norm"  # … and all heads of its layer together
    ROLLOUT = "rollout"
    ALTI = "alti"  # ALTI+

    @property
    def of_layer(self) -> bool:
        """Whether all heads of a layer have one map."""
        return self not in (Quantity.WEIGHT, Quantity.NORM)

    @property
    def each(self) -> str:
        """What has a map of its own."""
        return "layer" if self.of_layer else "head"

    @property
    def short(self) -> str:
        """The quantity's name beside a colour bar."""
        return {Quantity.WEIGHT: "weight", Quantity.ROLLOUT: "rollout", Quantity.ALTI: "ALTI+"}.get(
            self, "norm"
        )

    @property
    def noun(self) -> str:
        """What it is an amount of, in sentences."""
        return "share" if self.of_input else self.short

    @property
    def of_input(self) -> bool:
        """Whether its columns are the tokens fed, followed through all layers below."""
        return self in (Quantity.ROLLOUT, Quantity.ALTI)


class ThemeChoice(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class ColorMap(StrEnum):
    PAPER = "paper"  # from the background to a saturated blue; dark: from near-black to ice
    VIRIDIS = "viridis"
    CIVIDIS = "cividis"
    MAGMA = "magma"
    GREY = "grey"


class Scale(StrEnum):
    """What a colour stands for; always named beside its colour bar."""

    ABSOLUTE = "absolute"  # weight 0 to 1
    ROW = "row"  # 0 to the largest weight of each row
    HEAD = "head"  # 0 to the largest weight of the map
    LOG = "log"  # log10 of the weight, 0.0001 to 1
    GAMMA = "gamma"  # weight to the power of one half


class Combine(StrEnum):
    """How several selected heads are shown."""

    MEAN = "mean"
    SIDE_BY_SIDE = "side_by_side"


class LinksForm(StrEnum):
    COLUMNS = "columns"
    ROWS = "rows"
    ARCS = "arcs"  # self-attention only


class Penalty(StrEnum):
    """The form of the length penalty: that of the model, or one of `core.decoding.penalty`."""

    MODEL = "model"
    GNMT = "gnmt"
    LENGTH = "length"
    NONE = "none"


LEAST_KERNEL, MOST_KERNEL = 2, 99


class StreamPage(StrEnum):
    """A page of the Token stream."""

    TOKEN = "token"
    LENS = "lens"
    WORDS = "words"


class PaperPage(StrEnum):
    """A page of the Paper view."""

    COST = "cost"
    VARIATIONS = "variations"
    RECIPE = "recipe"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """How maps and links are shown.

    Attributes:
        quantity: of the heatmap.
        threshold: weights below it are left blank, and said to be.
        hide_specials: leave out special tokens and state the weight that falls on them.
        merge_words: sum the columns of a word's pieces, average its rows.
        order: of the heads map: "index" or the name of a statistic.
        links_mass: each query's heaviest links are drawn up to this share of its weight.
        links_distance: links are drawn from this |i - j| on; self-attention only.
        scores_scaled: the steps of a row divide by √d_k, as the model does.
        scores_by_weight: their keys are ordered by weight instead of position.
        reach_distance: far links are those of this |i - j| or more.
        reach_specials: special tokens count among them too.
        reach_sinks: links to a sink of their head count among them too.
        reach_kernel: the width of the kernels of a convolution that they are compared with.
        architecture_box: the box of the diagram that is chosen, as `core.analysis.boxes` names it.
        stream_page: of the Token stream.
        paper_page: of the Paper view.
        by_hand: the numbers of By hand as a table, or the name of one of its examples.
    """

    quantity: Quantity = Quantity.WEIGHT
    scale: Scale = Scale.ABSOLUTE
    threshold: float = 0.0
    hide_specials: bool = False
    merge_words: bool = False
    combine: Combine = Combine.MEAN
    order: str = "index"
    links_form: LinksForm = LinksForm.COLUMNS
    links_mass: float = 0.7
    links_distance: int = 0
    scores_scaled: bool = True
    scores_by_weight: bool = False
    reach_distance: int = 5
    reach_specials: bool = False
    reach_sinks: bool = False
    reach_kernel: int = 3
    architecture_box: str = "encoder.0.self_attention"
    stream_page: StreamPage = StreamPage.TOKEN
    paper_page: PaperPage = PaperPage.COST
    by_hand: str = ""
