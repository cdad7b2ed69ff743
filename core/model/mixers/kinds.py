"""The kinds of mixers: one row each, without torch, so that a window can list them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import UserError

if TYPE_CHECKING:
    from core.model.mixers.mixer import Mixer


@dataclass(frozen=True, slots=True)
class MixerShape:
    """The sizes that a mixer is built from; each kind reads those that it needs.

    Attributes:
        d_model: width d of a position, in and out.
        heads: of every kind of attention; divides `d_model`.
        kernel: width k of a convolution.
        neighbours: r, the positions that restricted attention sees, its own included.
        blocks: width of BigBird's blocks.
        rank: rows that Linformer keeps of keys and values.
        longest: n for which Linformer has weights.
        state: numbers N of the state of each channel of S4D and Mamba.
        globals: positions, or blocks, that Longformer and BigBird let see everything.
    """

    d_model: int = 128
    heads: int = 4
    kernel: int = 3
    neighbours: int = 9
    blocks: int = 16
    rank: int = 64
    longest: int = 8192
    state: int = 16
    globals: int = 1

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1.")
        if self.d_model % self.heads:
            raise UserError(
                f"d_model {self.d_model} is not divisible by {self.heads} heads; choose a multiple."
            )

    @property
    def d_head(self) -> int:
        """The width of one head."""
        return self.d_model // self.heads


@dataclass(frozen=True, slots=True)
class MixerKind:
    """One kind of mixer.

    Attributes:
        name: as commands and files call it.
        title: as tables call it; `short`: where there is little room.
        source: where it was published.
        order: its cost for n positions as the literature gives it, in Table 1's letters.
        path: how the longest path between two positions grows, likewise.
        module, maker: where it is, below this package, and what builds it, with `options`.
        both_directions: it can mix positions without order only, so it has no causal form.
    """

    name: str
    title: str
    short: str
    source: str
    order: str
    path: str
    module: str
    maker: str
    options: tuple[tuple[str, str], ...] = ()
    both_directions: bool = False

    def build(self, shape: MixerShape, *, causal: bool, layer: int = 0) -> Mixer:
        """Build a mixer with random weights for layer number `layer`, counted from 0.

        Raises:
            UserError: a causal form is wanted of a kind that has none.
        """
        if causal and self.both_directions:
            raise UserError(
                f"{self.title} has no causal form, so a decoder cannot use it; "
                "measure it without --causal."
            )
        module = importlib.import_module(f"core.model.mixers.{self.module}")
        mixer: Mixer = getattr(module, self.maker)(
            shape, causal=causal, layer=layer, **dict(self.options)
        )
        return mixer


def _attention(name: str, title: str, short: str, source: str, order: str = "n²d") -> MixerKind:
    options = (("compatibility", name if name != "attention" else "scaled_dot"),)
    return MixerKind(name, title, short, source, order, "1", "attention", "Attention", options)


MIXERS = (
    _attention("attention", "Self-attention", "Attention", "Vaswani et al. 2017, eq. 1"),
    _attention("dot", "Self-attention, unscaled", "Unscaled", "Luong et al. 2015"),
    _attention("additive", "Additive attention", "Additive", "Bahdanau et al. 2015", "n²d (tanh)"),
    _attention("general", "General attention", "General", "Luong et al. 2015"),
    MixerKind(
        *("restricted", "Restricted attention", "Restricted", "Vaswani et al. 2017, section 4"),
        *("rnd", "n/r", "sparse", "Restricted"),
    ),
    MixerKind(
        "lstm", "LSTM", "LSTM", "Hochreiter & Schmidhuber 1997", "nd²", "n", "recurrent", "lstm"
    ),
    MixerKind("gru", "GRU", "GRU", "Cho et al. 2014", "nd²", "n", "recurrent", "gru"),
    MixerKind(
        *("convolution", "Convolution", "Convolution", "Vaswani et al. 2017, table 1"),
        *("knd²", "n/k", "convolution", "Convolution"),
    ),
    MixerKind(
        *("convs2s", "Gated convolution (ConvS2S)", "ConvS2S", "Gehring et al. 2017"),
        *("knd²", "n/k", "convolution", "GatedConvolution"),
    ),
    MixerKind(
        *("bytenet", "Dilated convolution (ByteNet)", "ByteNet", "Kalchbrenner et al. 2016"),
        *("knd²", "log n", "convolution", "DilatedConvolution"),
    ),
    MixerKind(
        *("linear", "Linear attention", "Linear", "Katharopoulos et al. 2020"),
        *("nd²/h", "1", "linear", "LinearAttention"),
    ),
    MixerKind("s4d", "S4D", "S4D", "Gu et al. 2022", "nd² + nd log n", "n", "state_space", "s4d"),
    MixerKind("mamba", "Mamba", "Mamba", "Gu & Dao 2023", "nd² + ndN", "n", "mamba", "mamba"),
    MixerKind(
        *(
            "longformer",
            "Longformer",
            "Longformer",
            "Beltagy et al. 2020",
            "rnd",
            "2",
            "sparse",
            "Longformer",
        ),
        both_directions=True,
    ),
    MixerKind(
        *("bigbird", "BigBird", "BigBird", "Zaheer et al. 2020", "bnd", "2", "sparse", "BigBird"),
        both_directions=True,
    ),
    MixerKind(
        *(
            "linformer",
            "Linformer",
            "Linformer",
            "Wang et al. 2020",
            "knd",
            "1",
            "linear",
            "Linformer",
        ),
        both_directions=True,
    ),
)


def dilation(layer: int) -> int:
    """Return the dilation of ByteNet's layer, counted from 0: 1, 2, 4, 8, 16, and again."""
    return 1 << layer % 5


def mixer_kind(name: str) -> MixerKind:
    """Return the kind of this name.

    Raises:
        UserError: there is none.
    """
    for kind in MIXERS:
        if kind.name == name:
            return kind
    names = ", ".join(kind.name for kind in MIXERS)
    raise UserError(f"There is no layer kind “{name}”; choose one of {names}.")
