"""How much memory a table may take, and what it needs."""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

from maskrank.tables.errors import TableError

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
PROCESS = 600 * 10**6  # of the interpreter, torch and the nets; measured, benchmarks/large.py
_OF_FRAME = 2.5  # times the numbers of a table in 64 bits: what a fit on all of its rows takes; measured, the same
_OF_SAMPLE = 6.0  # the same of a sample, which is smaller, so that constant parts weigh more
_MOST_TIMES = 1_000  # what a packed table of some size may unpack to; gzip packs nothing but zeros so tightly
_SMALL = 10**9  # bytes; less may be packed as tightly as can be
_MOST_SAMPLED = 200_000  # rows; more of them take longer and choose the same
_LEAST_SAMPLED = 10_000


def memory_limit(given: object, name: str = "memory_limit") -> int:
    """A limit in bytes.

    Parameters
    ----------
    given : int, str or None
        Bytes, or text such as "4GB" or "500 MiB"; None is half of what is free.
    name : str
        What messages call it.

    Examples
    --------
    >>> from maskrank.tables.memory import memory_limit
    >>> memory_limit("1.5GB"), memory_limit("2 GiB"), memory_limit(10**9)
    (1500000000, 2147483648, 1000000000)
    """
    if given is None:
        return free_bytes() // 2
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    match = _AMOUNT.fullmatch(given.strip()) if isinstance(given, str) else None
    if match is None or match[2].lower() not in _UNITS or not 0 < float(match[1]) < math.inf:
        shown = f"{name} {given}" if name.startswith("--") else f"{name}={given!r}"
        raise ValueError(f"{shown}: bytes above 0 are needed, or text such as 500MB, 4GB or 4GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def free_bytes() -> int:
    """Memory that can be had without taking it from other programs; in a container that of its limit."""
    page, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    free = page * pages
    facts = Path("/proc/meminfo")
    if facts.exists():
        found = re.search(r"MemAvailable:\s+(\d+) kB", facts.read_text())
        free = free if found is None else 1024 * int(found[1])
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        if limit.exists() and (text := limit.read_text().strip()).isdigit():
            free = min(free, int(text))
    return min(free, _left_to_process())


def _left_to_process() -> int:
    """What this process may still ask for, where it has a limit of its own (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return sys.maxsize
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    used = Path("/proc/self/statm")
    taken = int(used.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if used.exists() else 0
    return max(1, limit - taken)


def require_room(where: str, n_bytes: int, limit: int, *, packed: int | None = None) -> None:
    """Refuse a table that would not fit into memory.

    Parameters
    ----------
    where : str
        What messages call it.
    n_bytes : int
        Its values, unpacked.
    limit : int
        Bytes of memory that may be used.
    packed : int, optional
        Bytes of the file that they are packed in.
    """
    needed = int(_OF_FRAME * n_bytes)
    if needed > limit:
        other = "" if where.endswith(".parquet") else ", or save it as Parquet, which is read in parts"
        raise TableError(
            f"{where}: holds {size_text(n_bytes)} or more, which need about {size_text(needed)} of memory, and "
            f"{size_text(limit)} may be used: allow more with --memory{other}"
        )
    if packed is not None and n_bytes > max(_SMALL, _MOST_TIMES * packed):
        raise TableError(
            f"{where}: unpacks to more than {_MOST_TIMES:,} times its size of {size_text(packed)}, as hardly any table "
            "does: if it is one, unpack it and give that"
        )


def bytes_in_memory(n_cells: int) -> int:
    """What reading a table of so many cells and a fit on all of its rows takes."""
    return int(PROCESS + _OF_FRAME * 8 * n_cells)


def fits_in_memory(n_cells: int, limit: int) -> bool:
    """Whether a table of so many cells is read at once; one that is small beside the limit always is."""
    return bytes_in_memory(n_cells) <= limit or int(_OF_FRAME * 8 * n_cells) <= limit // 20


def sample_rows(limit: int, n_rows: int, n_columns: int, name: str = "memory_limit") -> int:
    """Rows of a sample on which a fit stays within a limit.

    Raises
    ------
    ValueError
        They would be too few; it says the least limit.
    """
    of_row = int(_OF_SAMPLE * 8 * n_columns)
    affordable = (limit - PROCESS) // of_row
    if affordable < min(_LEAST_SAMPLED, n_rows):
        least = min(PROCESS + of_row * min(_LEAST_SAMPLED, n_rows), bytes_in_memory(n_rows * n_columns))
        raise ValueError(
            f"{name}: {size_text(limit)} are too little for a table of {n_columns:,} columns: at least "
            f"{size_text(least)} are needed"
        )
    return int(min(affordable, _MOST_SAMPLED, n_rows))


def size_text(n_bytes: int) -> str:
    """Bytes as people say them, rounded up.

    Examples
    --------
    >>> from maskrank.tables.memory import size_text
    >>> size_text(1_200_000_000), size_text(640_000_001)
    ('1.2 GB', '641 MB')
    """
    if n_bytes >= 10**9:
        return f"{-(-n_bytes // 10**8) / 10:g} GB"
    return f"{-(-n_bytes // 10**6):,} MB"
