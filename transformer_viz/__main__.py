"""python -P -m transformer_viz …: the program where its command is not installed."""

import sys

from transformer_viz.startup.entry import main

if __name__ == "__main__":
    sys.exit(main())
