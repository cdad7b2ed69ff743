"""python -m core COMMAND …: every command, without Qt."""

import sys

from core.cli import main

sys.exit(main())
