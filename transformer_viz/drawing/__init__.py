"""NumPy in, pixels out: no widgets."""
