"""What `transformer-viz` and `main.py` run first: is the `core` that Python finds our own?"""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; 2, with a sentence, beside a foreign `core`."""
    foreign = foreign_core()
    if foreign is not None:
        print(
            f"transformer-viz: Another package called core is in the way, in {foreign}; install "
            "Transformer Viz into an environment of its own.",
            file=sys.stderr,
        )
        return 2
    from core.system import ensure_output, is_bundle

    ensure_output()
    if is_bundle():
        from multiprocessing import freeze_support

        freeze_support()  # the processes of multiprocessing begin here too
    from transformer_viz.startup.launch import main as launch

    return launch(argv)


def foreign_core() -> Path | None:
    """Return where the `core` lies that would be imported; None if that is beside this package."""
    found = importlib.util.find_spec("core")
    origin = None if found is None else found.origin
    if origin is None:
        return None
    ours = Path(__file__).resolve().parents[2] / "core"
    return None if Path(origin).resolve().parent == ours else Path(origin)
