"""What a step of a lesson shows, as one value that can be put into the window from anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from core.heads import EVEN, Gate, Head
from core.lessons.lesson import Doing, Lesson, Pin
from core.switches import INTACT, Switches
from transformer_viz.state.gates import ALL_ON, Gates, gates
from transformer_viz.state.selection import Selection


@dataclass(frozen=True, slots=True)
class Shown:
    """What the window has to show; None leaves a thing as it is.

    Attributes:
        model: a bundled model's name, or a path.
        example: of By hand, or its numbers as a table.
        pin: by words; `selection` is the same by places, of what was there before a lesson.
    """

    model: str | None = None
    text: str | None = None
    view: str | None = None
    head: Head | None = None
    example: str | None = None
    pin: Pin | None = None
    gates: Gates = field(default_factory=lambda: ALL_ON)
    switches: Switches = INTACT
    selection: Selection | None = None

    def after(self, doing: Doing) -> Shown:
        """This state, with what a step does done."""
        others = doing.model not in (None, self.model)
        moved = others or doing.text is not None or doing.head is not None
        result = replace(self, pin=doing.pin if moved or doing.pin else self.pin)
        for name in ("model", "text", "view", "head", "example"):
            if getattr(doing, name) is not None:
                result = replace(result, **{name: getattr(doing, name)})
        if others:
            result = replace(result, gates=ALL_ON, switches=INTACT)
        result = replace(result, switches=doing.switched(result.switches))
        if doing.all_on or doing.off or doing.even:
            closed: dict[Head, Gate] = {**dict.fromkeys(doing.off, 0.0)}
            closed |= dict.fromkeys(doing.even, EVEN)
            result = replace(result, gates=gates(closed))
        return result


def state_at(lesson: Lesson, index: int) -> Shown:
    """What the window shows at a step: everything that the steps up to it have done."""
    state = Shown()
    for step in lesson.steps[: index + 1]:
        state = state.after(step.doing)
    return state
