"""Set up everything that the application needs: environment, packages, system libraries.

    python .ci/bootstrap.py          what it takes to run
    python .ci/bootstrap.py --dev    and what it takes to test

Standard library only, since nothing else is installed yet. `make` calls it; where there is no
make, call it by hand. Running it again repairs or updates what is there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
OLDEST_PYTHON = (3, 11)
# What single tests use, by Debian package: dictionaries that check the generated corpus, a virtual
# X server, and validators of the files for desktops. Without them these tests are skipped.
TEST_DICTIONARIES = {
    "/usr/share/hunspell/en_US.dic": "hunspell-en-us",
    "/usr/share/hunspell/de_DE.dic": "hunspell-de-de",
}
TEST_PROGRAMS = {
    "hunspell": "hunspell",
    "Xvfb": "xvfb",
    "desktop-file-validate": "desktop-file-utils",
    "mandoc": "mandoc",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Set up Transformer Viz in .venv.")
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    dev: bool = parser.parse_args().dev
    try:
        if sys.version_info < OLDEST_PYTHON:
            raise SetupError("Python 3.11 or newer is needed; this is " + sys.version.split()[0])
        create_environment()
        install_packages(dev)
        if sys.platform == "linux":
            install_system_libraries(dev)
    except SetupError as error:
        print(f"Setup stopped: {error}.", file=sys.stderr)
        return 1
    return 0


class SetupError(Exception):
    """What stands in the way, and what to do about it."""


def create_environment() -> None:
    if environment_python().exists():
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    say(f"Creating {ENVIRONMENT.name} with Python {version}")
    try:
        import ensurepip  # noqa: F401  (Debian ships Python without it)
    except ImportError:
        package = f"python{version}-venv"
        if not may_install():
            raise SetupError(f"this Python cannot create environments; install {package}") from None
        install_debian_packages([package])
    try:
        # A process of its own: one that began without ensurepip would not see it appear.
        run([sys.executable, "-m", "venv", str(ENVIRONMENT)], "the environment")
    except SetupError:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        raise


def install_packages(dev: bool) -> None:
    target = ".[dev]" if dev else "."
    say("Installing packages (PyTorch and Qt are large: the first time takes some minutes)")
    pip = [str(environment_python()), "-m", "pip", "install", "--quiet", "--editable", target]
    run(pip, "the packages")


def install_system_libraries(dev: bool) -> None:
    """Install what is missing on Debian as root; elsewhere say what to install.

    Raises:
        SetupError: a library without which Qt cannot even be imported stays missing.
    """
    sys.path.insert(0, str(ROOT))
    from transformer_viz.startup.preflight import GUI_LIBRARIES, XCB_LIBRARIES, missing_packages

    def lacking() -> list[str]:
        libraries = missing_packages(GUI_LIBRARIES | XCB_LIBRARIES)
        return libraries + missing_for_tests() if dev else libraries

    if lacking() and may_install():
        try:
            install_debian_packages(lacking())
        except SetupError as error:
            say(f"{error}")
    if packages := " ".join(lacking()):
        say(f"Missing: {packages}\nOn Debian and Ubuntu: sudo apt-get install {packages}")
    if packages := " ".join(missing_packages(GUI_LIBRARIES)):
        raise SetupError(f"Qt does not start without {packages}")


def missing_for_tests() -> list[str]:
    return [
        *(package for file, package in TEST_DICTIONARIES.items() if not Path(file).exists()),
        *(package for program, package in TEST_PROGRAMS.items() if not shutil.which(program)),
    ]


def may_install() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0 and bool(shutil.which("apt-get"))


def install_debian_packages(packages: list[str]) -> None:
    say(f"Installing system libraries: {' '.join(packages)}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages]
    run(["apt-get", "update", "-qq"], "Debian's package lists", environment)
    run(install, "Debian's packages", environment)


def environment_python() -> Path:
    return ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(command: list[str], what: str, environment: dict[str, str] | None = None) -> None:
    """Run a step without its output, which is kept in a file if the step fails.

    Raises:
        SetupError: it failed; the sentence has its last line and names the file.
    """
    with tempfile.NamedTemporaryFile(
        prefix="transformer-viz-setup-", suffix=".log", delete=False
    ) as log:
        status = subprocess.call(
            command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    output = Path(log.name)
    if status:
        lines = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        raise SetupError(f"{what} could not be installed{last} (exit {status}; see {output})")
    output.unlink()


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
