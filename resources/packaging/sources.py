"""What setuptools does besides when it builds: the manual page, and the list of all sources."""

import subprocess
import sys
from pathlib import Path

from setuptools.command.egg_info import egg_info, manifest_maker

MANUAL_PAGE = Path("docs", "transformer-viz.1")


class Sources(egg_info):
    """Reads the list from this folder, because the top level of the project has no file for it."""

    def find_sources(self) -> None:
        # without site-packages, so that it cannot come to need any
        page = subprocess.check_output([sys.executable, "-S", "main.py", "man"])
        MANUAL_PAGE.write_bytes(page)
        manifest_maker.template = "resources/packaging/MANIFEST.in"
        super().find_sources()
