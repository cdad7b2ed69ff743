"""Greedy and beam search, the stepper, scoring."""
