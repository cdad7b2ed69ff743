from pathlib import Path
from typing import Any

from transformer_viz.shell.model_habits import ModelHabits
from transformer_viz.state.session import ModelInfo, Search
from transformer_viz.state.settings import MAX_ALPHA, MAX_BEAM

MINE = Search(1, 0.6)


def model(decoding: dict[str, Any] | None = None, languages: tuple[str, ...] = ()) -> ModelInfo:
    provenance = {} if decoding is None else {"decoding": decoding}
    return ModelInfo("x", Path("x"), 1, 1, 1, 1, 8, 9, provenance, languages=languages)


def test_a_model_starts_with_the_search_that_it_brings() -> None:
    habits = ModelHabits()
    assert habits.search(model(), MINE) == MINE
    assert habits.search(model({"beam": 6, "alpha": 1.0}), MINE) == Search(6, 1.0)
    far = model({"beam": 100, "alpha": 9.0})
    assert habits.search(far, Search(6, 1.0)) == Search(MAX_BEAM, MAX_ALPHA)


def test_what_was_set_before_comes_back_with_a_model_that_brings_nothing() -> None:
    habits = ModelHabits()
    now = habits.search(model({"beam": 6, "alpha": 1.0}), MINE)
    now = habits.search(model({"beam": 4, "alpha": 0.5}), now)
    assert habits.search(model(), now) == MINE
    changed = Search(2, 0.1)
    assert habits.search(model(), changed) == changed


def test_the_form_of_the_penalty_is_the_models() -> None:
    assert model().penalty == "gnmt"
    assert model({"beam": 4, "alpha": 1.0, "penalty": "length"}).penalty == "length"


def test_a_text_gets_and_loses_the_token_of_its_language() -> None:
    habits, several = ModelHabits(), model(languages=(">>afr<<", ">>deu<<"))
    assert habits.text("Hi", several) == ">>afr<< Hi"
    habits.language = ">>deu<<"
    assert habits.text("Hi", several, model()) == ">>deu<< Hi"
    assert habits.text(">>deu<< Hi", model(), several) == "Hi"
    assert habits.sentence("Ho", ">>afr<< Hi", several) == ">>afr<< Ho"
    assert habits.sentence("Ho", "Hi", several) == ">>deu<< Ho"
    assert habits.sentence("Ho", "Hi", None) == "Ho"
