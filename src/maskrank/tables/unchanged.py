"""Files that must stay as they are while they are read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from maskrank.tables.errors import TableError


class Unchanged:
    """Remembers the size and the time of the last change of some files; a context manager that checks them at its end.

    Where a file changed, that is the error, whatever else went wrong for it.

    Parameters
    ----------
    paths : iterable of Path
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._known = {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}

    def __enter__(self) -> Unchanged:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception):
            self.check()

    @property
    def n_bytes(self) -> int:
        """Of all files together."""
        return sum(size for size, _ in self._known.values())

    def check(self, paths: Iterable[Path] | None = None) -> None:
        """Raise if one of the files is not what it was.

        Parameters
        ----------
        paths : iterable of Path, optional
            Only these of the files.
        """
        for path in self._known if paths is None else paths:
            size, changed = self._known[path]
            try:
                now = path.stat()
            except FileNotFoundError as error:
                raise TableError(f"{path}: was removed while it was read") from error
            if now.st_size != size:
                how = "shorter" if now.st_size < size else "longer"
                raise TableError(
                    f"{path}: became {how} while it was read, {now.st_size:,} bytes instead of {size:,}; read it when "
                    "nothing writes to it"
                )
            if now.st_mtime_ns != changed:
                raise TableError(f"{path}: changed while it was read; read it when nothing writes to it")
