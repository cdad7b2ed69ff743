"""python -P -m core COMMAND …: every command, without Qt.

Without -P, Python looks for `core` and all other modules in the current folder first. Where `core`
was found elsewhere, that folder is taken off the import path before anything more is imported.
"""

import os
import sys

if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]

from core.cli import main

sys.exit(main())
