"""Atomic writes, and what is checked of a path before the work begins."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from maskrank.locks import try_lock

_PARTS = (".parquet", ".arrow", ".feather")  # files of a folder that are parts of a table
_LONGEST = 255  # bytes of a name, where the system does not tell
_STEM = 40  # bytes of it in the name of a temporary file


def write_atomically(path: str | os.PathLike[str], content: bytes | str | Iterable[str]) -> None:
    """Write to a temporary file beside the target, then put it in place in one step; it keeps the mode of the old file.

    Temporary files that an earlier run left behind when it was killed are removed.

    Parameters
    ----------
    path : path
    content : bytes, str, or iterable of str
        An iterable is written part by part, as it comes. Characters that UTF-8 does not have, as names of files may
        hold, are spelled out.
    """
    target = _real_target(path)
    parts = [content] if isinstance(content, bytes | str) else content
    try:
        _remove_leftovers(target)
        handle, temporary = _temporary(target)
        try:
            with os.fdopen(handle, "wb") as file:
                for part in parts:
                    file.write(part.encode("utf-8", errors="backslashreplace") if isinstance(part, str) else part)
                file.flush()
                os.chmod(temporary, _mode(target))
                os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise type(error)(f"{path} can't be written: {error.strerror or error}") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError that says why a file can't be written here, before the work begins."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise OSError(f"{os.fspath(path)!r} can't be written: its name holds characters no file can have") from error
    if not name or b"\0" in name:
        raise OSError(f"{os.fspath(path)!r} can't be written: it is no name of a file")
    try:
        _check_place(path, _real_target(path))
    except OSError as error:
        raise error if error.errno is None else type(error)(f"{path} can't be written: {error.strerror}") from error


def check_distinct(read: Sequence[str], files: Sequence[str]) -> None:
    """Raise a ValueError where a file that is to be written is one that is read, or another one to be written."""
    seen: list[str] = []
    for path in files:
        if any(_same(path, other) for other in read):
            raise ValueError(f"{path} is given twice: it is read, and would be overwritten; give another file")
        if any(_same(path, other) for other in seen):
            raise ValueError(f"{path} is given twice: each output needs a file of its own")
        for folder in filter(os.path.isdir, read):
            inside = os.path.realpath(folder) in map(str, Path(os.path.realpath(path)).parents)
            if inside and Path(path).suffix.lower() in _PARTS:
                raise ValueError(f"{path} would be a part of the table in {folder}: give a file outside")
        seen.append(path)


def _check_place(path: str | os.PathLike[str], target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} can't be written: there is no folder {target.parent}")
    length, most = len(os.fsencode(target.name)), _longest_name(target.parent)
    if length > most:
        raise OSError(f"{path} can't be written: its name has {length} bytes, and at most {most} are allowed")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file to write")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a plain file: give the name of a file to write")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} can't be written: no permission")
    _remove_leftovers(target)
    with tempfile.TemporaryFile(dir=target.parent):
        pass


def _longest_name(folder: Path) -> int:
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        return _LONGEST


def _same(a: str, b: str) -> bool:
    """Whether two paths are one file, by whatever links."""
    try:
        return Path(a).samefile(b)
    except (OSError, ValueError):
        return os.path.realpath(a) == os.path.realpath(b)


def _temporary(target: Path) -> tuple[int, str]:
    """A new file beside the target, locked for as long as it is open."""
    while True:
        handle, temporary = tempfile.mkstemp(prefix=_prefix(target), suffix=".part", dir=target.parent)
        if try_lock(handle) is not False:
            with suppress(OSError):
                if os.path.samestat(os.fstat(handle), Path(temporary).stat()):
                    return handle, temporary
        os.close(handle)  # another process took it for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of this target which no process holds open."""
    own = re.compile(re.escape(_prefix(target)) + r"[a-z0-9_]{8}\.part")
    with suppress(OSError):
        for file in [file for file in target.parent.iterdir() if own.fullmatch(file.name)]:
            _remove_unlocked(file)


def _remove_unlocked(file: Path) -> None:
    with suppress(OSError):
        handle = os.open(file, os.O_RDWR)
        try:
            if try_lock(handle):
                os.unlink(file)
        finally:
            os.close(handle)


def _prefix(target: Path) -> str:
    """How the names of temporary files of a target begin: not all of it, so that they are no longer than allowed."""
    name = os.fsencode(target.name)
    return "." + (target.name if len(name) <= _STEM else os.fsdecode(name[:_STEM])) + "."


def _real_target(path: str | os.PathLike[str]) -> Path:
    """The file that a symbolic link points to."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)  # noqa: PTH114


def _mode(target: Path) -> int:
    """Of the file that is replaced, or of a new one."""
    with suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
