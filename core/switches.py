"""Parts of a whole model that are switched to see what they are for: the scaling and the mask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.errors import UserError


class Scaling(StrEnum):
    """By what a product q · k is divided before the softmax (paper section 3.2.1)."""

    ON = "on"  # √d_k, as the paper has it
    OFF = "off"  # 1
    TWICE = "twice"  # d_k, which is √d_k twice

    def divisor(self, width: int) -> float:
        """``width``: d_k."""
        power = {Scaling.ON: 0.5, Scaling.OFF: 0.0, Scaling.TWICE: 1.0}[self]
        return float(width**power)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """The defaults are the model as the paper has it.

    Attributes:
        scaling: of every attention block.
        mask: whether a target position is kept from attending to later ones in a whole pass. In
            step-by-step decoding there is nothing later to see, so nothing changes there.
    """

    scaling: Scaling = Scaling.ON
    mask: bool = True

    @property
    def intact(self) -> bool:
        """Whether nothing is switched."""
        return self == INTACT

    def changes(self) -> tuple[str, ...]:
        """What is switched, as files keep it: ``scaling=off``, ``mask=off``."""
        return (
            *([] if self.scaling is Scaling.ON else [f"scaling={self.scaling.value}"]),
            *([] if self.mask else ["mask=off"]),
        )


INTACT = Switches()


def read_switches(changes: tuple[str, ...]) -> Switches:
    """Read what ``Switches.changes`` gives.

    Raises:
        UserError: an entry is none of these.
    """
    scaling, mask = Scaling.ON, True
    for change in changes:
        name, _, value = change.partition("=")
        if name == "scaling" and value in set(Scaling):
            scaling = Scaling(value)
        elif name == "mask" and value in ("on", "off"):
            mask = value == "on"
        else:
            raise UserError(
                f"{change!r} names no switch; write scaling=off, scaling=twice or mask=off."
            )
    return Switches(scaling=scaling, mask=mask)
