"""The Stream view: one token's residual stream, the layer lens, and the words that heads push."""
