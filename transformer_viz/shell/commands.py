"""Every command of the window: its menu, its words, its keys, and what it calls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QActionGroup, QKeySequence

from core.trace.trace import AttentionKind
from transformer_viz.decoding.decoding import DecodingView
from transformer_viz.shell.controller import Controller
from transformer_viz.shell.help_commands import HelpCommands
from transformer_viz.shell.menus import DocumentMenus
from transformer_viz.shell.quantity_commands import add_quantities
from transformer_viz.shell.views import TABS
from transformer_viz.state.options import ColorMap, Penalty, ThemeChoice
from transformer_viz.state.session import Session
from transformer_viz.widgets.actions import Actions

if TYPE_CHECKING:
    from transformer_viz.decoding.decoding import DecodingView
    from transformer_viz.shell.window import Window

KINDS = {
    AttentionKind.ENCODER_SELF: "&Encoder self-attention",
    AttentionKind.DECODER_SELF: "&Decoder self-attention",
    AttentionKind.CROSS: "&Cross-attention",
}


def add_commands(
    actions: Actions,
    window: Window,
    session: Session,
    controller: Controller,
    documents: DocumentMenus,
) -> None:
    _add_file(actions, window, documents)
    _add_text(actions, window, session, controller, documents)
    _add_decoding(actions, window, controller)
    _add_head(actions, window, session)
    window.training.add_to(actions)
    _add_view(actions, window, session, controller)
    window.lessons.add_to(actions)
    _add_help(actions, window.help)


def _add_file(actions: Actions, window: Window, documents: DocumentMenus) -> None:
    menu = actions.menu("&File")
    keys = QKeySequence.StandardKey
    files = window.files
    actions.add("open", menu, "&Open…", files.open, keys.Open)
    actions.add("open_folder", menu, "Open a &folder…", files.open_folder, "Ctrl+Shift+O")
    actions.add("get_model", menu, "&Get a model…", window.hub.show)
    documents.fill_bundled(actions.menu("&File", "&Bundled models"))
    documents.fill_recent(actions.menu("&File", "&Recent files"))
    menu.addSeparator()
    actions.add("save", menu, "&Save session", files.save, keys.Save)
    actions.add("save_as", menu, "Save session &as…", files.save_as, "Ctrl+Shift+S")
    menu.addSeparator()
    actions.add("export", menu, "&Export…", files.export, "Ctrl+E")
    actions.add("copy_picture", menu, "Copy &picture", files.copy_picture, "Ctrl+Shift+C")
    actions.add("copy_matrix", menu, "Copy &matrix", files.copy_matrix)
    menu.addSeparator()
    actions.add("quit", menu, "&Quit", window.close, "Ctrl+Q")


_PENALTIES = {
    Penalty.MODEL: "As the &model has it",
    Penalty.GNMT: "&GNMT: ((5 + tokens) / 6)^α",
    Penalty.LENGTH: "&Length: tokens^α",
    Penalty.NONE: "&None",
}


def _add_text(
    actions: Actions,
    window: Window,
    session: Session,
    controller: Controller,
    documents: DocumentMenus,
) -> None:
    def search_by(beam: int) -> None:
        controller.set_search(replace(controller.search, beam=beam))

    def penalise(penalty: Penalty) -> None:
        controller.set_search(replace(controller.search, penalty=penalty))

    menu = actions.menu("&Text")
    history = window.history
    undo = actions.add("undo", menu, "&Undo", history.undo, "Ctrl+Z")
    redo = actions.add("redo", menu, "&Redo", history.redo, "Ctrl+Shift+Z", "Ctrl+Y")

    def enable() -> None:
        undo.setEnabled(history.can_undo)
        redo.setEnabled(history.can_redo)

    history.changed.connect(enable)
    enable()
    menu.addSeparator()
    actions.add("edit", menu, "&Edit the text", window.edit_text, "Ctrl+L")
    documents.fill_samples(
        actions.menu("&Text", "&Samples"), window.choose_text, window.compare_pair
    )
    documents.fill_history(actions.menu("&Text", "&History"), window.choose_text)
    menu.addSeparator()
    _add_sentences(actions, controller, session)
    menu.addSeparator()
    group = QActionGroup(window)
    actions.add("greedy", menu, "&Greedy search", lambda: search_by(1), "Ctrl+G", group=group)
    actions.add(
        "beam",
        menu,
        "&Beam search",
        lambda: search_by(controller.settings.beam_size),
        "Ctrl+B",
        group=group,
    )
    penalties = QActionGroup(window)
    for penalty, text in _PENALTIES.items():
        actions.add(
            f"penalty_{penalty}",
            actions.menu("&Text", "&Length penalty"),
            text,
            partial(penalise, penalty),
            group=penalties,
        )


def _add_sentences(actions: Actions, controller: Controller, session: Session) -> None:
    def step(by: int) -> None:
        controller.choose_sentence(session.index + by)

    menu = actions.menu("&Text")
    on = actions.add("next_sentence", menu, "&Next sentence", partial(step, 1), "Alt+PgDown")
    back = actions.add(
        "previous_sentence", menu, "&Previous sentence", partial(step, -1), "Alt+PgUp"
    )
    whole = actions.add(
        "keep_whole",
        menu,
        "&Keep text whole",
        lambda: controller.set_keep_whole(whole.isChecked()),
    )
    whole.setCheckable(True)
    whole.setToolTip("Translate a text of several sentences as one, not sentence by sentence")

    def enable() -> None:
        on.setEnabled(session.index < len(session.passage.spans) - 1)
        back.setEnabled(session.index > 0)

    session.passageChanged.connect(enable)
    enable()


def _add_decoding(actions: Actions, window: Window, controller: Controller) -> None:
    def view() -> DecodingView:
        window.show_view("decoding")
        return window.stage.of(DecodingView)

    menu, walk = actions.menu("De&coding"), controller.decoding.walk
    actions.add("decoding_play", menu, "&Play or pause", walk.toggle, "F5")
    actions.add("decoding_back", menu, "Step &back", partial(walk.move, -1), "Ctrl+[")
    actions.add("decoding_on", menu, "Step &forward", partial(walk.move, 1), "Ctrl+]")
    menu.addSeparator()
    tree, target = "Beam search as a &tree", "Score your &own translation"
    actions.add("beam_tree", menu, tree, lambda: view().show_tree(), "Ctrl+Shift+B")
    actions.add("own_target", menu, target, lambda: view().edit_target(), "Ctrl+T")


def _add_head(actions: Actions, window: Window, session: Session) -> None:
    menu = actions.menu("Hea&d")
    for number, (kind, name) in enumerate(KINDS.items(), start=1):
        actions.add(kind, menu, name, partial(session.select, kind=kind), f"Ctrl+{number}")
    menu.addSeparator()
    for id_, name, keys, layers, heads in (
        ("next_head", "&Next head", "Alt+Right", 0, 1),
        ("previous_head", "&Previous head", "Alt+Left", 0, -1),
        ("next_layer", "Next &layer", "Alt+Down", 1, 0),
        ("previous_layer", "Previous l&ayer", "Alt+Up", -1, 0),
    ):
        actions.add(id_, menu, name, partial(window.step_head, layers, heads), keys)
    menu.addSeparator()
    window.gates.add_to(actions)
    actions.add("scaling", menu, "Toggle &scaling by √d_k", window.switch_scaling, "Ctrl+D")
    actions.add("release", menu, "&Release all pins", window.release, "Esc")
    window.heads.add_to(actions)


def _add_view(actions: Actions, window: Window, session: Session, controller: Controller) -> None:
    for number, tab in enumerate(TABS, start=1):
        show = partial(window.show_view, tab.name)
        keys = [f"Alt+{number % 10}"] if number <= 10 else []
        actions.add(f"view_{tab.name}", actions.menu("&View"), tab.menu_text, show, *keys)
    add_quantities(actions, session, partial(window.show_view, "heatmap"))
    actions.menu("&View").addSeparator()
    change = controller.change_settings
    themes, colors = QActionGroup(window), QActionGroup(window)
    for theme in ThemeChoice:
        actions.add(
            f"theme_{theme}",
            actions.menu("&View", "&Theme"),
            f"&{theme.capitalize()}",
            partial(change, theme=theme),
            group=themes,
        )
    for color_map in ColorMap:
        actions.add(
            f"color_map_{color_map}",
            actions.menu("&View", "&Colour map"),
            f"&{color_map.capitalize()}",
            partial(change, color_map=color_map),
            group=colors,
        )
    menu = actions.menu("&View")
    menu.addSeparator()
    panels = actions.menu("&View", "Pa&nel")
    actions.add("next_panel", panels, "&Next panel", partial(window.step_panel, 1), "F6")
    actions.add(
        "previous_panel", panels, "&Previous panel", partial(window.step_panel, -1), "Shift+F6"
    )
    menu.addSeparator()
    window.presentation.add_to(actions)
    actions.add("full_screen", menu, "&Full screen", window.toggle_full_screen, "F11")


def _add_help(actions: Actions, help_: HelpCommands) -> None:
    menu = actions.menu("H&elp")
    actions.add("guide", menu, "&User guide", help_.show_guide, "Shift+F1")
    actions.add("palette", menu, "&Find a command…", help_.show_palette, "Ctrl+Shift+P")
    actions.add("shortcuts", menu, "&Keyboard shortcuts", help_.show_shortcuts, "F1")
    menu.addSeparator()
    actions.add("log", menu, "Show the &log", help_.show_log)
    actions.add("diagnostics", menu, "&Copy diagnostic information", help_.copy_diagnostics)
    menu.addSeparator()
    actions.add("about", menu, "&About Transformer Viz", help_.show_about)
