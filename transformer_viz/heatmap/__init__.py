"""The Heatmap view."""
