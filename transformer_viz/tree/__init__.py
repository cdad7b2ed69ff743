"""The Tree view: the constituency tree that a parser writes, and what its brackets look at."""
