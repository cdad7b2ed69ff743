"""The Architecture view: the diagram of the paper's figures 1 and 2 with today's numbers in it."""
