"""The memory that a Dask worker frees and takes again."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_SETTING = "MALLOC_TRIM_THRESHOLD_"  # in the environment of a worker that Dask's nanny has started
_TRIM, _MMAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h
_KEPT = 1 << 28  # bytes that are kept at most
_LARGEST = 1 << 25  # bytes of an array that malloc may take from what is kept: glibc's own limit
_SMALLEST = 1 << 17  # what glibc begins with


@contextmanager
def memory_kept() -> Iterator[None]:
    """Inside the block, memory that was freed is kept for the next array; at its end, it goes back to the system.

    Dask lets its workers give back all of it at once, which is meant for few large arrays. A fit makes many small ones:
    giving back each and taking it again page by page made fits of 300 rows take 1.9 times the processor time.
    """
    before = os.environ.get(_SETTING, "")
    library = ctypes.CDLL(None) if before.isdecimal() else None
    if library is None or not (hasattr(library, "mallopt") and hasattr(library, "malloc_trim")):
        yield
        return
    library.mallopt(_TRIM, _KEPT)
    library.mallopt(_MMAP, _LARGEST)
    try:
        yield
    finally:
        library.mallopt(_TRIM, int(before))
        library.mallopt(_MMAP, _SMALLEST)
        library.malloc_trim(0)
