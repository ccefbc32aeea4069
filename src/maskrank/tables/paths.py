"""Which paths a table is read from: a regular file, a folder of them, or standard input.

A pipe would be waited for, and some devices never end.
"""

from __future__ import annotations

import stat
from pathlib import Path

from maskrank.tables.errors import TableError

STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def is_standard_input(source: str) -> bool:
    """Whether a source is standard input, by any of its names."""
    return source in STANDARD_INPUT


def place(source: str) -> str:
    """What a message calls the source."""
    return "standard input" if is_standard_input(source) else source


def source_path(source: str | Path) -> Path:
    """The path of a file or folder that is there.

    Raises
    ------
    TableError
        There is none, it can't be looked at, it is empty, or it is a pipe or a device.
    """
    path = Path(source)
    if not str(source):
        raise TableError("'': is no name of a file")
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise TableError(f"{source}: there is no such file") from error
    except PermissionError as error:
        raise TableError(f"{source}: can't be read: no permission") from error
    except (OSError, ValueError) as error:  # a name that is too long, or holds a zero byte
        raise TableError(f"{source}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    mode = facts.st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise TableError(f"{source}: is {kind}; give a file or a folder, or - to read CSV from standard input")
    if stat.S_ISREG(mode) and not facts.st_size:
        raise TableError(f"{source}: the file is empty")
    return path
