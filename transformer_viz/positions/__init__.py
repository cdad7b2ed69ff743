"""The Positions view, and what happens without them."""
