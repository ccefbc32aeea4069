"""The one place where an error becomes the lines that people read."""

from __future__ import annotations

import errno
import re
from concurrent.futures import BrokenExecutor

INPUT, WORK = 2, 1  # exit codes: what was given is wrong; the work could not be done
_LONGEST = 2_000  # characters of a line
_ALLOCATION = re.compile(r"[Uu]nable to allocate ([\d.,]+ \w+)|tried to allocate (\d+ bytes)|of size (\d+)")
_NO_MEMORY = re.compile(r"can't allocate memory|not enough memory|can't start new thread|out of memory|bad_alloc")
_HELP = "--memory chooses on a sample of the rows, --drop leaves columns out, and fewer --jobs take less"


def said_of(error: BaseException) -> tuple[list[str], int] | None:
    """What is said of an error, and the exit code; None for one that nothing is known of, which is a bug."""
    if _is_memory(error):
        found = _ALLOCATION.search(str(error))
        size = "" if found is None else f" for {next(filter(None, found.groups()))} at once"
        return [f"there is not enough memory{size}: {_HELP}"], WORK
    if isinstance(error, RecursionError):
        return ["what was given is nested too deeply"], INPUT
    if isinstance(error, OverflowError):
        return [f"a number is too large: {error}"], INPUT
    if isinstance(error, BrokenExecutor):
        return ["a fitting process was ended from outside, perhaps because memory ran out: use fewer --jobs"], WORK
    if isinstance(error, ValueError | OSError | ImportError):
        return [_short(line) for line in _lines(error)], WORK if _is_of_output(error) else INPUT
    return None


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, Exception) and _NO_MEMORY.search(str(error)) is not None


def _is_of_output(error: Exception) -> bool:
    from maskrank.terminal.standard_output import OutputError

    return isinstance(error, OutputError)


def _short(line: str) -> str:
    """A line without its middle where something very long was given."""
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]}…{line[-_LONGEST // 2 :]}"


def _lines(error: Exception) -> list[str]:
    """A table has a line for each of its problems, any other error has one; that of a file names it."""
    from maskrank.tables.errors import TableError

    if isinstance(error, TableError):
        return str(error).split("\n")
    if isinstance(error, OSError) and error.strerror:
        return [": ".join([*(str(name) for name in (error.filename, error.filename2) if name), error.strerror])]
    return [str(error) or type(error).__name__]
