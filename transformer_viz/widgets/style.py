"""How the widgets are dressed in a theme: palette, style sheet, and the roles in it.

A widget asks for a text style by the dynamic property ``role`` (`set_role`).
"""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QWidget

from transformer_viz.drawing.theme import DARK, LIGHT, Theme
from transformer_viz.state.options import ThemeChoice


class ThemeManager(QObject):
    """Dresses the application, and follows the system while the choice is `SYSTEM`."""

    themeChanged = Signal(object)  # Theme

    def __init__(self, app: QApplication, choice: ThemeChoice | str = "system") -> None:
        super().__init__(app)
        self._app = app
        self._choice = ThemeChoice(choice)
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._theme = self._chosen()
        self._dress()

    @property
    def choice(self) -> ThemeChoice:
        return self._choice

    @property
    def theme(self) -> Theme:
        return self._theme

    def set_choice(self, choice: ThemeChoice | str) -> None:
        self._choice = ThemeChoice(choice)
        self._follow_system()

    def _chosen(self) -> Theme:
        if self._choice is ThemeChoice.SYSTEM:
            scheme = self._app.styleHints().colorScheme()
            return DARK if scheme is Qt.ColorScheme.Dark else LIGHT
        return DARK if self._choice is ThemeChoice.DARK else LIGHT

    def _follow_system(self) -> None:
        theme = self._chosen()
        if theme is not self._theme:
            self._theme = theme
            self._dress()
            self.themeChanged.emit(theme)

    def _dress(self) -> None:
        self._app.setPalette(palette(self._theme))
        edged = _edged(self._theme, "soft")
        self._app.setPalette(edged, "QCheckBox")  # type: ignore[arg-type]  # the stubs want bytes
        self._app.setStyleSheet(style_sheet(self._theme))


def palette(theme: Theme) -> QPalette:
    """The palette for Fusion, complete in both the active and the disabled group."""
    roles = QPalette.ColorRole
    result = QPalette()
    for role, token in {
        roles.Window: "chrome",
        roles.WindowText: "ink",
        roles.Base: "paper",
        roles.AlternateBase: "chrome",
        roles.Text: "ink",
        roles.PlaceholderText: "faint",
        roles.Button: "raised",
        roles.ButtonText: "ink",
        roles.BrightText: "error",
        roles.Light: "raised",
        roles.Midlight: "line",
        roles.Mid: "border",
        roles.Dark: "border",
        roles.Shadow: "border",
        roles.Highlight: "accent",
        roles.HighlightedText: "on_accent",
        roles.Accent: "accent",
        roles.Link: "accent",
        roles.LinkVisited: "accent",
        roles.ToolTipBase: "raised",
        roles.ToolTipText: "ink",
    }.items():
        result.setColor(role, theme.color(token))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, theme.color("faint"))
    return result


def style_sheet(theme: Theme) -> str:
    """What the palette cannot say: flat buttons, slim scroll bars, a visible focus."""
    t = theme
    return f"""
    QWidget[role="paper"] {{ background: {t.paper}; }}
    QLabel[role="title"] {{ font-weight: 600; }}
    QLabel[role="soft"] {{ color: {t.soft}; }}
    QLabel[role="faint"] {{ color: {t.faint}; }}
    QLabel[role="warning"] {{ color: {t.warning}; }}
    QLabel[role="error"] {{ color: {t.error}; }}
    QFrame[role="rule"] {{ background: {t.line}; border: none; max-height: 1px; }}
    QFrame[role="card"] {{
        background: {t.raised}; border: 1px solid {t.soft}; border-radius: 4px;
    }}
    QLabel[role="note"] {{
        background: {t.raised}; border: 1px solid {t.border}; border-radius: 4px;
    }}
    QDialog[role="popup"] {{ border: 1px solid {t.border}; }}
    QPushButton, QToolButton {{
        background: {t.raised}; color: {t.ink};
        border: 1px solid {t.border}; border-radius: 4px; padding: 4px 8px;
    }}
    QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
    QPushButton:checked, QToolButton:checked {{
        background: {t.accent_soft}; color: {t.accent}; border-color: {t.accent};
    }}
    QPushButton[role="quiet"] {{ color: {t.soft}; background: {t.chrome}; text-align: left; }}
    QPushButton:focus, QToolButton:focus {{ border-color: {t.accent}; }}
    QToolButton:checked:focus {{ border-width: 2px; padding: 3px 7px; }}
    QPushButton:disabled, QToolButton:disabled {{ color: {t.faint}; border-color: {t.line}; }}
    QToolButton::menu-indicator, QPushButton::menu-indicator {{ width: 8px; }}
    QPlainTextEdit, QLineEdit {{
        background: {t.paper}; color: {t.ink};
        border: 1px solid {t.border}; border-radius: 4px; padding: 0;
        selection-background-color: {t.accent}; selection-color: {t.on_accent};
    }}
    QPlainTextEdit[role="quiet"] {{ background: transparent; border-color: transparent; }}
    QAbstractSpinBox QLineEdit {{ border: none; background: transparent; }}
    QPlainTextEdit:focus, QPlainTextEdit[role="quiet"]:focus, QLineEdit:focus {{
        border-color: {t.accent};
    }}
    QLineEdit[refused="true"] {{ color: {t.error}; border-color: {t.error}; }}
    QProgressBar {{ background: {t.line}; border: none; border-radius: 4px; }}
    QProgressBar::chunk {{ background: {t.accent}; border-radius: 4px; }}
    QRadioButton::indicator {{
        width: 12px; height: 12px; border: 1px solid {t.soft}; border-radius: 7px;
        background: {t.paper};
    }}
    QRadioButton::indicator:checked {{
        width: 6px; height: 6px; border: 4px solid {t.accent}; background: {t.on_accent};
    }}
    QRadioButton:focus {{ color: {t.accent}; }}
    QTabBar::tab {{
        background: transparent; color: {t.soft}; border: none;
        border-bottom: 2px solid transparent; padding: 8px 12px 6px 12px;
    }}
    QTabBar::tab:selected {{ color: {t.ink}; font-weight: 600; border-bottom-color: {t.accent}; }}
    QTabBar::tab:hover:!selected {{ color: {t.ink}; }}
    QTabBar::tab:focus {{ color: {t.accent}; }}
    QTabBar QToolButton {{ padding: 0; }}
    QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
    QSplitter::handle {{ background: {t.line}; }}
    QTreeView::item {{ padding: 4px; }}
    QScrollBar:vertical {{ background: transparent; width: 8px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 8px; margin: 0; }}
    QScrollBar::handle {{ background: {t.border}; border-radius: 3px; margin: 1px; }}
    QScrollBar::handle:vertical {{ min-height: 24px; }}
    QScrollBar::handle:horizontal {{ min-width: 24px; }}
    QScrollBar::handle:hover {{ background: {t.soft}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QToolTip {{
        background: {t.raised}; color: {t.ink}; border: 1px solid {t.border}; padding: 4px;
    }}
    QMenu {{ background: {t.raised}; border: 1px solid {t.border}; padding: 4px; }}
    QMenu::item {{ padding: 4px 24px 4px 12px; border-radius: 3px; }}
    QMenu::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
    QMenu::item:disabled {{ color: {t.faint}; }}
    QMenu::separator {{ height: 1px; background: {t.line}; margin: 4px; }}
    """


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget one of the style sheet's roles, and repolish it when it already has one."""
    widget.setProperty("role", role)
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def dress_spin_box(box: QAbstractSpinBox, theme: Theme) -> None:
    """Give a spin box soft edges. The line inside does not follow by itself when the theme
    changes."""
    for part in (box, box.lineEdit()):
        part.setPalette(_edged(theme, "border"))


def _edged(theme: Theme, token: str) -> QPalette:
    """With edges of this colour: Fusion takes them from the window's, much darkened."""
    colors = palette(theme)
    colors.setColor(QPalette.ColorRole.Window, theme.color(token).lighter(140))
    return colors
