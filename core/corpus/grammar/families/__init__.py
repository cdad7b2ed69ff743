"""The sentence families: each module has the builders of one group of them."""
