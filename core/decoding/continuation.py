"""Going on from a given beginning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.decoding.config import GREEDY, SearchConfig
from core.decoding.search import proceed
from core.decoding.stepper import Stepper
from core.errors import UserError
from core.model.transformer import Transformer


def continue_greedily(
    model: Transformer,
    source: Sequence[int],
    prefix: Sequence[int],
    *,
    config: SearchConfig = GREEDY,
    check: Callable[[], None] = proceed,
) -> tuple[int, ...]:
    """The prefix, then the most probable token again and again, up to and with the end token.

    Args:
        model: in evaluation mode.
        source: ids without specials.
        prefix: ids to begin with; one that ends with the end token is whole already.
        config: its limits on the output's length hold here too.
        check: called before every step; what it raises ends the work.

    Raises:
        UserError: the prefix is longer than an output may be, or holds a token that cannot be
            there.
    """
    walk = Stepper(model, source, candidates=1, config=config)
    if len(prefix) > walk.longest or (
        len(prefix) == walk.longest and prefix[-1] != model.config.eos_id
    ):
        raise UserError(
            f"A translation of this sentence can have up to {walk.longest} tokens, including the "
            f"end token, but this beginning has {len(prefix)}; choose a shorter one."
        )
    for token in prefix:
        check()
        walk.step(token)
    while not walk.finished:
        check()
        walk.step()
    return tuple(walk.tokens)
