"""The Reach view: far links, distances, and measured accuracy by distance."""
