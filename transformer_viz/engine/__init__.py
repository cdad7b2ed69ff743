"""The worker that owns the models, the one door to torch, and the processes that are started."""
