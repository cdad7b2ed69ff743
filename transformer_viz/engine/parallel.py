"""Several at a time, in threads: for NumPy, which computes without the interpreter's lock."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST = 4
"""More threads would wait for memory."""


def in_parallel(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """`map`, on all cores but at most `MOST`; no more results are made than are about to be
    taken."""
    workers = min(MOST, os.cpu_count() or 1)
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="picture") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
