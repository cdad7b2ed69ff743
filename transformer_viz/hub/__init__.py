"""Translation models from the hub: the list of pairs, and the download beside the window."""
