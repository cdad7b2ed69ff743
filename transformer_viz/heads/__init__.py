"""The Heads dock: what each head does over a corpus, measured, with the sentences that show it."""
