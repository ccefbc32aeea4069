"""Atomic writes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes | str | Iterable[str]) -> None:
    """Write to a temporary file beside the target, then put it in place in one step.

    Parameters
    ----------
    path : path
    content : bytes, str, or iterable of str
        An iterable is written part by part, as it comes.
    """
    target = _real_target(path)
    parts = [content] if isinstance(content, bytes | str) else content
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                for part in parts:
                    file.write(part.encode("utf-8") if isinstance(part, str) else part)
            os.chmod(temporary, _default_mode())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise type(error)(f"{path} can't be written: {error.strerror or error}") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError that says why a file can't be written here, before the work begins."""
    target = _real_target(path)
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file to write")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a plain file: give the name of a file to write")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} can't be written: there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} can't be written: no permission")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise type(error)(f"{path} can't be written: {error.strerror or error}") from error


def _real_target(path: str | os.PathLike[str]) -> Path:
    """The file that a symbolic link points to."""
    return Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
