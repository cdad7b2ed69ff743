"""The Layers view: what competes with self-attention, measured on this machine."""
