"""Parallel text: aligned files, batching, and the generated corpus."""
