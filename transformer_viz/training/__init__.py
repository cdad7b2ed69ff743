"""The training panel. It knows a run by the files of its folder and by the process it starts."""
