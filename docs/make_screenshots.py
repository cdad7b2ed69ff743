"""Makes the pictures in docs/screenshots anew: `python docs/make_screenshots.py`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "screenshots"
SHOTS = {
    "window-light.png": ("--theme", "light"),
    "window-dark.png": ("--theme", "dark"),
}


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, options in SHOTS.items():
        picture = FOLDER / name
        command = [sys.executable, "main.py", "--screenshot", str(picture), "--size", "1440x900"]
        done = subprocess.run([*command, *options], cwd=ROOT, check=False)
        if done.returncode != 0:
            return done.returncode
        print(picture.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
