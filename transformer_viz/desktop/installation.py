"""What a freedesktop.org desktop knows of a program, as files below one folder.

These are an entry for the menus, icons, the types of our files, a description for software centres
and the manual page. A type is claimed by the suffix `.tviz` or by what a file says of itself, never
by `.safetensors`, which other programs use as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from core.errors import UserError
from core.files import atomic_write, is_file, is_there
from core.system import COMMAND as NAME
from core.system import HOME, has_menus_of_freedesktop, is_bundle, outside_environment
from transformer_viz.desktop.man_page import man_page

ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
_SECONDS = 60  # that updating a cache may take
_QUOTED = '"`$\\'
_RESERVED = set(" \t\n\"'\\><~|&;$*?#()`")


@dataclass(frozen=True, slots=True)
class Installation:
    """The files of one installation.

    Attributes:
        share: the folder that contains ``applications``, ``icons`` and so on.
        command: what starts the program, each word on its own.
    """

    share: Path
    command: tuple[str, ...]

    @classmethod
    def for_user(cls, environ: Mapping[str, str] = os.environ) -> Installation:
        """Return the installation in the user's own data folder.

        Raises:
            UserError: this system has no such menus, or the program has no command to put there.
        """
        if not has_menus_of_freedesktop():
            raise UserError(
                "install-desktop is for Linux desktops. On Windows, make a shortcut to the "
                "command transformer-viz; on macOS, keep the bundle in Applications."
            )
        share = environ.get("XDG_DATA_HOME", "")
        # the specification ignores a relative path
        base = Path(share) if os.path.isabs(share) else Path.home() / ".local" / "share"
        return cls(base, installed_command())

    @classmethod
    def at(cls, prefix: Path) -> Installation:
        """Return an installation for all users below a folder such as ``/usr``."""
        return cls(prefix / "share", (NAME,))

    def contents(self) -> dict[Path, bytes]:
        """Return what each file contains."""
        desktop, icons = (Path(str(files("resources"))) / name for name in ("desktop", "icons"))
        themes = self.share / "icons" / "hicolor"
        return {
            self.share / "mime/packages" / f"{NAME}.xml": (desktop / f"{NAME}.xml").read_bytes(),
            **{
                themes / f"{size}x{size}/apps/{NAME}.png": (
                    icons / f"{NAME}-{size}.png"
                ).read_bytes()
                for size in ICON_SIZES
            },
            themes / f"scalable/apps/{NAME}.svg": (icons / f"{NAME}.svg").read_bytes(),
            self.share / "metainfo" / f"{NAME}.metainfo.xml": (
                desktop / f"{NAME}.metainfo.xml"
            ).read_bytes(),
            self.share / "man/man1" / f"{NAME}.1": man_page().encode(),
            # last: the entry is of use when all that it names is there
            self.share / "applications" / f"{NAME}.desktop": self._entry(
                (desktop / f"{NAME}.desktop").read_text(encoding="utf-8")
            ).encode(),
        }

    def write(self) -> list[Path]:
        """Write all files, or none; return their paths.

        Raises:
            UserError: one cannot be written; those that are new are removed again.
        """
        new: list[Path] = []
        contents = self.contents()
        try:
            for path, data in contents.items():
                if not is_there(path):
                    new.append(path)
                _make_folder(path.parent)
                atomic_write(path, lambda temporary, data=data: _fill(temporary, data))  # type: ignore[misc]
        except UserError:
            self._remove(new)
            raise
        return list(contents)

    def remove(self) -> list[Path]:
        """Remove the files, and leave the folders to others; return the paths of what was there.

        Raises:
            UserError: one cannot be removed.
        """
        return self._remove(list(self.contents()))

    def update_caches(self) -> list[str]:
        """Tell the desktop at once, by the tools that it has; return a sentence for each failure.

        Without them, the desktop notices by itself, at the latest at the next login.
        """
        icons = self.share / "icons" / "hicolor"
        commands = [
            ["update-mime-database", str(self.share / "mime")],
            ["update-desktop-database", "--quiet", str(self.share / "applications")],
        ]
        # A cache that only we updated would hide the icons that other programs add later.
        if is_file(icons / "icon-theme.cache"):
            update = "gtk-update-icon-cache"
            commands.append([update, "--quiet", "--force", "--ignore-theme-index", str(icons)])
        ran = [one for one in commands if is_there(one[-1]) and shutil.which(one[0])]
        return list(filter(None, map(_failure, ran)))

    def _entry(self, template: str) -> str:
        """Return the desktop entry with our command in the place of its own."""
        lines = template.splitlines()
        changed = {
            "Exec": " ".join([*map(_exec_word, self.command), "%F"]),
            "TryExec": self.command[0].replace("\\", "\\\\"),
        }
        for index, line in enumerate(lines):
            key = line.partition("=")[0]
            if key in changed:
                lines[index] = f"{key}={changed[key]}"
        return "\n".join(lines) + "\n"

    def _remove(self, paths: list[Path]) -> list[Path]:
        removed = []
        for path in paths:
            if not os.path.lexists(path):
                continue
            try:
                path.unlink()
            except OSError as error:
                raise UserError(f"{path} cannot be removed: {error.strerror or error}.") from error
            removed.append(path)
        return removed


def installed_command() -> tuple[str, ...]:
    """Return the command that starts this very installation, by full paths.

    Raises:
        UserError: there is none, because the packages lie somewhere without it.
    """
    if is_bundle():
        return (os.path.abspath(sys.executable),)
    started = Path(sys.argv[0])
    folders = (Path(sys.executable).parent, Path(sysconfig.get_path("scripts")))
    for command in (started, *(folder / NAME for folder in folders)):
        if command.name == NAME and is_file(command) and os.access(command, os.X_OK):
            return (os.path.abspath(command),)
    main = HOME / "main.py"
    if is_file(main):
        return (os.path.abspath(sys.executable), str(main))
    raise UserError(f"The command {NAME} is not installed here; install the program with pip.")


def _exec_word(word: str) -> str:
    """Quote a word of ``Exec``, first for its own syntax and then as any value of the file."""
    word = word.replace("%", "%%")
    if _RESERVED & set(word):
        word = '"' + "".join(f"\\{sign}" if sign in _QUOTED else sign for sign in word) + '"'
    return word.replace("\\", "\\\\")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder} cannot be created: {error.strerror or error}.") from error


def _fill(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _failure(command: list[str]) -> str:
    """Run a tool of the desktop; return a sentence if it fails."""
    try:
        done = subprocess.run(
            command,
            env=outside_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} failed: {error}"
    return f"{command[0]} failed with exit code {done.returncode}." if done.returncode else ""
