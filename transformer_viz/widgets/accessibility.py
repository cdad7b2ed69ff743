"""Telling screen readers what a picture shows."""

from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, description: str) -> None:
    """Make this the widget's description, and say so if it is new."""
    if widget.accessibleDescription() != description:
        widget.setAccessibleDescription(description)
        event = QAccessibleEvent(widget, QAccessible.Event.DescriptionChanged)
        QAccessible.updateAccessibility(event)
