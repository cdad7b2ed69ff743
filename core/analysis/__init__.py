"""What each head does, measured: over a corpus, against gold, and by switching it off."""
