"""The Scores view: how a row of weights is computed."""
