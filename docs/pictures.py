"""The pictures of the README and the guide: what the window shows in each, as data.

A picture starts from what the program restores by itself: view, text, options and theme. The rest,
such as where the pointer is, follows as acts. Then a check says whether it shows what it is for.
"""

from dataclasses import dataclass, field

from picture_acts import (
    Act,
    choose,
    choose_head,
    choose_run,
    find_head,
    keys,
    open_path,
    pin,
    point,
    point_at_target,
    press,
    run,
    turn_to,
    write,
)
from picture_checks import (
    Check,
    accuracy,
    candidates,
    curves,
    dialog,
    drawn,
    every,
    far_links,
    heads_off,
    inserted,
    inspected,
    links,
    looks,
    map_of,
    mattering,
    measured,
    ordered_by,
    other_pronoun,
    page_of_positions,
    pins,
    resolved,
    several_heads,
    sharper_unscaled,
    specialist,
    switched_off,
    translation,
    translations,
    winner,
)

from core.bundled import model_path
from core.trace.trace import AttentionKind
from transformer_viz.export.dialog import ExportDialog
from transformer_viz.hub.dialog import GetModel
from transformer_viz.state.bundled import FIRST_TEXT
from transformer_viz.state.options import (
    Combine,
    LinksForm,
    Quantity,
    Scale,
    ThemeChoice,
    ViewOptions,
)
from transformer_viz.training.new_run import NewRun

WIDE_STREET = "The animal didn't cross the street because it was too wide."
FIRST_TRANSLATION = "Das Tier überquerte die Straße nicht, weil es zu müde war."


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """
    Attributes:
        name: of the file, without its suffix.
        shows: the check that the picture has what its caption speaks of.
        part: an attribute of the window to show alone, "dialog" for the one that is open, or
            nothing for the whole window.
        run: whether `RUN` has to be trained.
        marian: whether the folder `MARIAN` has to be there.
        size: of the window, in pixels.
        hint: whether the line of the first start is shown.
    """

    name: str
    shows: Check
    view: str = "heatmap"
    text: str = FIRST_TEXT
    options: ViewOptions = field(default_factory=ViewOptions)
    theme: ThemeChoice = ThemeChoice.LIGHT
    acts: tuple[Act, ...] = ()
    part: str = "stage"
    size: tuple[int, int] = (1280, 800)
    hint: bool = False
    run: bool = False
    marian: bool = False


# The pictures, in the order of the guide

RUN = "heads-1"
"""A run of the preset "heads" with seed 1, in the folder of runs."""
MARIAN = "marian-en-de"
"""A bundled model in the form of a MarianMT folder; see `marian_copy`."""
WIDE = (1440, 900)
TALL = (1440, 1100)
ALL_KEYS = (1280, 900)  # of the sentence, none of them scrolled
TRANSLATED = find_head(AttentionKind.CROSS, "es", "it")
RESOLVER = find_head(AttentionKind.ENCODER_SELF, "it", "animal")
BEAM_TEXT = "I can hardly believe that."
"""A sample for which beam search finds a better translation than greedy search."""
TARGET = "Das Tier ging nicht über die Straße, weil es zu müde war."

PICTURES = (
    Picture(name="window-light", shows=translation(FIRST_TRANSLATION), part="", hint=True),
    Picture(
        name="window-dark", shows=translation(FIRST_TRANSLATION), part="", theme=ThemeChoice.DARK
    ),
    Picture(
        name="linked", shows=looks("es", "it"), part="", acts=(TRANSLATED, point_at_target("es"))
    ),
    Picture(
        name="sentences",
        shows=translation("Es schlief."),
        text="The animal was tired. It slept. The king bought a house.",
        part="",
        size=(1280, 560),
        acts=(run("next_sentence"),),
    ),
    Picture(
        name="heads-map",
        shows=ordered_by("previous"),
        options=ViewOptions(order="previous"),
        part="heads_map",
    ),
    Picture(
        name="heatmap", shows=every(drawn, looks("it", "animal")), acts=(point("it", "animal"),)
    ),
    Picture(
        name="heatmap-decoder",
        shows=every(map_of(AttentionKind.DECODER_SELF), pins(1)),
        acts=(run("decoder_self"), pin("es")),
    ),
    Picture(
        name="heatmap-heads",
        shows=every(drawn, several_heads, pins(1)),
        options=ViewOptions(combine=Combine.SIDE_BY_SIDE),
        acts=(keys("Heads map", "Home", "Shift+End"), pin("it", "animal")),
    ),
    Picture(
        name="heatmap-options",
        shows=every(drawn, pins(3)),
        options=ViewOptions(scale=Scale.LOG, threshold=0.01, hide_specials=True, merge_words=True),
        acts=(pin("it", "it", "tired", "animal"),),
    ),
    Picture(
        name="heatmap-alti",
        shows=every(map_of(AttentionKind.CROSS, Quantity.ALTI), pins(1)),
        options=ViewOptions(quantity=Quantity.ALTI),
        acts=(run("cross"), pin("es")),
    ),
    Picture(
        name="links",
        shows=every(links, pins(1)),
        view="links",
        acts=(press("All heads"), pin("it")),
    ),
    Picture(
        name="links-arcs",
        shows=links,
        view="links",
        options=ViewOptions(links_form=LinksForm.ARCS, links_distance=3),
        acts=(run("release"),),
    ),
    Picture(
        name="scores",
        shows=every(drawn, pins(1)),
        view="scores",
        acts=(pin("was"),),
        size=ALL_KEYS,
    ),
    Picture(
        name="scores-unscaled",
        shows=every(sharper_unscaled, pins(1)),
        view="scores",
        options=ViewOptions(scores_scaled=False),
        acts=(pin("was"),),
        size=ALL_KEYS,
    ),
    Picture(
        name="inspector",
        shows=every(inspected, pins(1)),
        part="inspector",
        acts=(TRANSLATED, pin("es")),
    ),
    Picture(name="positions-grid", shows=page_of_positions("grid"), view="positions"),
    Picture(
        name="positions-curves",
        shows=page_of_positions("curves"),
        view="positions",
        acts=(press("Curves"),),
    ),
    Picture(
        name="positions-similarity",
        shows=page_of_positions("similarity"),
        view="positions",
        acts=(press("Similarity"),),
    ),
    Picture(
        name="positions-shift",
        shows=page_of_positions("shift"),
        view="positions",
        acts=(press("Shift"),),
    ),
    Picture(
        name="what-if",
        shows=page_of_positions("what_if"),
        view="positions",
        acts=(press("What if"), press("Positions off"), press("Shuffle words")),
    ),
    Picture(
        name="decoding",
        shows=every(drawn, candidates, translations(2)),
        view="decoding",
        acts=(TRANSLATED, pin("es"), write("Another token for this step", "sie")),
        size=WIDE,
    ),
    Picture(
        name="own-target",
        shows=every(drawn, translation(TARGET), translations(2)),
        view="decoding",
        acts=(TRANSLATED, write("Your own translation", TARGET), pin("es")),
        size=WIDE,
    ),
    Picture(
        name="beam-tree",
        shows=winner,
        view="decoding",
        text=BEAM_TEXT,
        acts=(press("Beam tree"), press("Search with beam 4")),
        size=WIDE,
    ),
    Picture(name="compare", shows=other_pronoun, view="compare", size=WIDE),
    Picture(
        name="reach-links",
        shows=every(far_links, inserted(8), looks("it", "animal")),
        view="reach",
        acts=(
            RESOLVER,
            pin("it", "animal"),
            keys("Words inserted into the sentence", "PgUp", "PgUp"),
        ),
    ),
    Picture(name="reach-distances", shows=drawn, view="reach", acts=(RESOLVER, press("Distances"))),
    Picture(
        name="reach-accuracy",
        shows=every(drawn, accuracy),
        view="reach",
        acts=(press("Accuracy"), keys("Heads by accuracy, best first", "Home")),
    ),
    Picture(
        name="ablation",
        shows=every(drawn, switched_off),
        view="ablation",
        acts=(press("Scaling off"),),
    ),
    Picture(
        name="why-root",
        shows=drawn,
        view="ablation",
        acts=(press("Why √d_k?"),),
    ),
    Picture(
        name="architecture",
        shows=every(drawn, pins(1)),
        view="architecture",
        acts=(pin("it"),),
        size=TALL,
    ),
    Picture(
        name="stream", shows=every(drawn, pins(1)), view="stream", acts=(pin("it"),), size=TALL
    ),
    Picture(
        name="layer-lens",
        shows=drawn,
        view="stream",
        acts=(press("Layer lens"),),
    ),
    Picture(
        name="by-hand",
        shows=drawn,
        view="by_hand",
        acts=(choose("Example", "The river bank flooded."),),
        size=TALL,
    ),
    Picture(name="paper", shows=drawn, view="paper", size=TALL),
    Picture(
        name="tree",
        shows=drawn,
        view="tree",
        text="The old king who loves the queen sees the dog.",
        acts=(open_path(str(model_path("parse-en"))),),
    ),
    Picture(
        name="lesson",
        shows=looks("it", "animal"),
        part="",
        acts=(
            run("lessons"),
            keys("Lessons", "Home", "Return"),
            press("&Next"),
            press("&Next"),
        ),
        size=WIDE,
    ),
    Picture(
        name="heads-panel",
        shows=measured,
        part="",
        acts=(RESOLVER, run("heads")),
        size=WIDE,
    ),
    Picture(
        name="resolving", shows=resolved, part="heads.dock", acts=(run("resolving"),), size=TALL
    ),
    Picture(
        name="mattering",
        shows=mattering,
        part="heads.dock",
        text=WIDE_STREET,
        acts=(open_path(str(model_path("plain-en-de"))), run("mattering")),
        size=TALL,
    ),
    Picture(
        name="gates",
        shows=heads_off,
        part="",
        text=WIDE_STREET,
        acts=(
            open_path(str(model_path("plain-en-de"))),
            choose_head("encoder:2.1"),
            keys("Heads map", "Home", "Shift+End"),
            run("gate_off"),
        ),
        size=WIDE,
    ),
    Picture(
        name="real-model",
        shows=every(translation(FIRST_TRANSLATION), pins(1)),
        part="",
        acts=(
            open_path(MARIAN),
            TRANSLATED,
            pin("es"),
        ),
        marian=True,
    ),
    Picture(name="get-model", shows=dialog(GetModel), part="dialog", acts=(run("get_model"),)),
    Picture(name="export", shows=dialog(ExportDialog), part="dialog", acts=(run("export"),)),
    Picture(name="training-new", shows=dialog(NewRun), part="dialog", acts=(run("new_run"),)),
    Picture(
        name="training-curves",
        shows=curves,
        part="training.dock",
        acts=(run("show_training"), choose_run(RUN), turn_to("Curves"), press("Log values")),
        size=TALL,
        run=True,
    ),
    Picture(
        name="training-attention",
        shows=specialist,
        part="",
        acts=(
            run("show_training"),
            choose_run(RUN),
            turn_to("Attention"),
            keys("Heads, earliest specialists first", "Home", "Return"),
            keys("Training step", "Left", "Left"),
            pin("it"),
        ),
        options=ViewOptions(merge_words=True),
        size=TALL,
        run=True,
    ),
)
