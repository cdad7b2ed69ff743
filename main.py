"""`python main.py` opens the window; `python main.py COMMAND …` runs a command."""

import sys

from transformer_viz.startup.entry import main

if __name__ == "__main__":
    sys.exit(main())
