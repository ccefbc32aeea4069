"""Compressed files: their decompressed size is checked before, or while, they are decompressed."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from maskrank.tables.errors import TableError
from maskrank.tables.memory import require_room

_PIECE = 1 << 10  # bytes of a Zstandard file at once: they hold at most 32,768 times as many
_MOST_ENTRIES = 10_000  # files in a .zip


class Bounded(io.RawIOBase):
    """A stream that ends with an error where more comes out of it than memory can hold.

    Parameters
    ----------
    stream : binary stream
    where : str
        What messages call the file.
    limit : int
        Bytes of memory.
    packed : int, optional
        Bytes of the file.
    """

    def __init__(self, stream: Any, where: str, limit: int, packed: int | None = None) -> None:
        super().__init__()
        self._stream, self._where, self._limit, self._packed = stream, where, limit, packed
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        self._n_bytes += len(content)
        require_room(self._where, self._n_bytes, self._limit, packed=self._packed)
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def open_packed(path: Path, limit: int) -> BinaryIO:
    """The bytes that a .gz or .zst file unpacks to, as they come."""
    stream = gzip.open(path) if path.suffix.lower() == ".gz" else _Zstandard(path)  # noqa: SIM115
    return io.BufferedReader(Bounded(stream, str(path), limit, path.stat().st_size), 1 << 18)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Say which file can't be unpacked."""
    kind, errors = _KINDS[path.suffix.lower()]
    known = errors(str(path))
    try:
        yield
    except known as error:
        raise TableError(f"{path}: is not a {kind} file, or it is damaged") from error


def check_archive(path: Path, limit: int) -> None:
    """Refuse a .zip, as .npz and .xlsx are, whose files would not fit into memory.

    Their sizes are those that it declares; no more than these are ever unpacked.
    """
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise TableError(f"{path}: holds {len(entries):,} files; at most {_MOST_ENTRIES:,} are read")
        require_room(str(path), sum(entry.file_size for entry in entries), limit, packed=path.stat().st_size)


class _Zstandard(io.RawIOBase):
    """A Zstandard file, frame by frame; the reader of the library takes a file that breaks off for a shorter one."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._file = path, path.open("rb")
        self._frame: Any = None
        self._waiting, self._packed = b"", b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._waiting and self._unpack():
            pass
        size = len(self._waiting) if size < 0 else size
        content, self._waiting = self._waiting[:size], self._waiting[size:]
        return content

    def _unpack(self) -> bool:
        """Unpack a piece; whether there was one."""
        self._packed = self._packed or self._file.read(_PIECE)
        if not self._packed:
            if self._frame is not None:
                raise TableError(f"{self._path}: is damaged: it breaks off")
            return False
        if self._frame is None:
            self._frame = zstandard_module(str(self._path)).ZstdDecompressor().decompressobj()
        self._waiting = self._frame.decompress(self._packed)
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None
        return True

    def close(self) -> None:
        self._file.close()
        super().close()


def zstandard_module(where: str) -> Any:
    """The module that unpacks .zst; an error says how to get it."""
    try:
        import zstandard
    except ImportError as error:
        raise TableError(f"{where}: reading .zst needs zstandard: pip install 'maskrank[zstd]'") from error
    return zstandard


_KINDS: dict[str, tuple[str, Callable[[str], tuple[type[Exception], ...]]]] = {
    ".gz": ("gzip", lambda where: (gzip.BadGzipFile, zlib.error, EOFError)),
    ".zst": ("Zstandard", lambda where: (zstandard_module(where).ZstdError,)),
}
