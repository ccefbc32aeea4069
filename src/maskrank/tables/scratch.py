"""Folders for Parquet files that are needed for a while."""

from __future__ import annotations

import os
import re
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from maskrank.locks import try_lock

_PREFIX, _SUFFIX = "maskrank-", ".scratch"
_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")


class Scratch:
    """A new folder among the temporary files, removed with this object, at the latest when Python ends.

    It is locked as long as it is needed, so that the next one removes what a killed process left.

    Attributes
    ----------
    path : Path
    """

    def __init__(self) -> None:
        _remove_leftovers(Path(tempfile.gettempdir()))
        self.path, handle = _locked_folder()
        weakref.finalize(self, _remove, self.path, handle)


def _locked_folder() -> tuple[Path, int | None]:
    """A new folder, and what holds its lock."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, suffix=_SUFFIX))
        handle = _opened(path)
        if handle is None or (try_lock(handle) is not False and path.exists()):
            return path, handle
        os.close(handle)  # another process took it for a leftover before it was locked


def _remove_leftovers(place: Path) -> None:
    """Remove folders of this user which no process has locked."""
    with suppress(OSError):
        for path in [path for path in place.iterdir() if _NAME.fullmatch(path.name)]:
            handle = _opened(path)
            if handle is not None and try_lock(handle):
                _remove(path, handle)
            elif handle is not None:
                os.close(handle)


def _opened(path: Path) -> int | None:
    """A folder of this user, open; None where systems can't open folders."""
    with suppress(OSError, AttributeError):
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        if os.fstat(handle).st_uid == os.geteuid():
            return handle
        os.close(handle)
    return None


def _remove(path: Path, handle: int | None) -> None:
    """Remove a folder and the Parquet files in it, and nothing else, and give its lock back."""
    with suppress(OSError):
        for file in path.glob("*.parquet"):
            file.unlink(missing_ok=True)
        path.rmdir()
    if handle is not None:
        with suppress(OSError):
            os.close(handle)
