"""Measure: `python -m tests.benchmarks [NAME …]` runs bench_NAME.py, or all of them.

Each such module has `run() -> list[Figure]`. A benchmark that needs something which is not there
raises `UnavailableError` with the reason. One that fails shows its traceback, and the others still
run. The exit code is 1 when a benchmark failed; missed targets are marked in the table.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from pathlib import Path

from core.huge_pages import ask_for_huge_pages
from tests.benchmarks.figure import Figure, UnavailableError, table
from tests.benchmarks.machine import machine


def main() -> int:
    names = sorted(path.stem.removeprefix("bench_") for path in _folder().glob("bench_*.py"))
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names)}")
    chosen: list[str] = parser.parse_args().names or names
    if unknown := sorted(set(chosen) - set(names)):
        parser.error(f"no benchmark {unknown[0]!r}; there are: {', '.join(names)}")
    ask_for_huge_pages()
    print(machine(), file=sys.stderr, flush=True)
    figures: list[Figure] = []
    failed: list[str] = []
    for name in chosen:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        try:
            figures += importlib.import_module(f"tests.benchmarks.bench_{name}").run()
        except UnavailableError as reason:
            print(f"skipped {name}: {reason}", file=sys.stderr, flush=True)
        except Exception:
            traceback.print_exc()
            failed.append(name)
    print(table(figures))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _folder() -> Path:
    return Path(__file__).resolve().parent


if __name__ == "__main__":
    sys.exit(main())
