"""How the lists of the panel look: a card with room around each line, calm where it is chosen."""

from transformer_viz.drawing.theme import GRID, Theme


def list_style(theme: Theme) -> str:
    """The style sheet of a QListWidget."""
    return f"""
    QListWidget {{
        background: {theme.paper}; border: 1px solid {theme.line}; border-radius: 4px;
        outline: none;
    }}
    QListWidget:focus {{ border-color: {theme.accent}; }}
    QListWidget::item {{ padding: {GRID}px {2 * GRID}px; }}
    QListWidget::item:selected {{ background: {theme.accent_soft}; color: {theme.ink}; }}
    """
