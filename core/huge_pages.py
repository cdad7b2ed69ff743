"""Memory in pages of 2 MB, which Linux gives to programs that ask for them."""

from __future__ import annotations

import os


def ask_for_huge_pages() -> None:
    """Request huge pages for torch's tensors, if none was made yet; the environment may say
    otherwise.

    Models are read whole at every decoding step: with pages of 4 KB the processor looks up
    where they are tens of thousands of times.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
