"""What is shown and chosen, as values and signals: no widget, no thread."""
