"""Table 1 of the paper, measured: what each kind of layer costs, and how far it reaches."""
