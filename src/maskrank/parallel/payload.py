"""A function with its data, packed once and read by every worker.

Arrays are kept apart from the rest, so that each backend moves them in its own way: joblib maps large ones into
memory, Dask and Ray hold them once on each machine. An array in a file that the workers see, too, goes by its path.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Stamp = tuple[int, int]  # size and time of the last change of a file
PACKAGES = ("maskrank", "torch")  # whose versions must be the same everywhere, or bits may differ


class Payload:
    """A function of a task, as bytes.

    Parameters
    ----------
    work : function
        With all data it needs, such as a `functools.partial`.
    is_shared : function
        Whether the workers see a file as this process does.
    """

    def __init__(self, work: Callable[[Any], Any], *, is_shared: Callable[[Path], bool]) -> None:
        buffers: list[pickle.PickleBuffer] = []
        file = io.BytesIO()
        _Pickler(file, buffers.append, is_shared).dump(work)
        self._head: Bytes = np.frombuffer(file.getvalue(), dtype=np.uint8)
        self._buffers: list[Bytes] = [np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers]
        self._versions = versions()
        self._work: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_work": None}  # a worker hands on the bytes alone

    @property
    def nbytes(self) -> int:
        """What is sent, without files that go by their path."""
        return sum(part.nbytes for part in (self._head, *self._buffers))

    @property
    def work(self) -> Callable[[Any], Any]:
        """The function; it reads arrays where they are.

        Raises
        ------
        ImportError
            This process has another version of maskrank or torch than the one that packed it.
        """
        if self._work is None:
            check_versions(versions(), self._versions, "this worker")
            self._work = pickle.loads(self._head.data, buffers=self._buffers)
        return self._work


def versions() -> dict[str, str]:
    """Versions of the packages that results depend on, without the build (2.13.0+cpu is 2.13.0)."""
    return {name: version(name).partition("+")[0] for name in PACKAGES}


def check_versions(theirs: dict[str, str], ours: dict[str, str], worker: str) -> None:
    """Refuse a worker with other versions than ours; the error names the worker and both versions."""
    for name, here in ours.items():
        there = theirs[name]
        if there != here:
            raise ImportError(f"{worker} has {name} {there}, and {here} is needed, as here: results would differ")


def stamp(path: str | Path) -> Stamp | None:
    """What tells a file from others of its name; None where there is none."""
    try:
        facts = Path(path).stat()
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns


class _Pickler(cloudpickle.Pickler):  # functions of a notebook are packed, too
    """Keeps the buffers of arrays apart; arrays in files that the workers see are packed as their place."""

    def __init__(
        self, file: io.BytesIO, keep: Callable[[pickle.PickleBuffer], Any], is_shared: Callable[[Path], bool]
    ) -> None:
        super().__init__(file, protocol=5, buffer_callback=keep)
        self._is_shared = is_shared

    def reducer_override(self, obj: Any) -> Any:
        place = _place(obj) if isinstance(obj, np.ndarray) else None
        if place is not None and self._is_shared(place[0]):
            return _opened, place
        return super().reducer_override(obj)


def _place(array: NDArray[Any]) -> tuple[Path, Stamp | None, np.dtype[Any], tuple[int, ...], str, int] | None:
    """File, stamp, type, shape, order and offset of a contiguous array in a memory-mapped file; None for any other."""
    order = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else None
    base: Any = array
    while base is not None and not (isinstance(base, np.memmap) and not isinstance(base.base, np.memmap)):
        base = getattr(base, "base", None)
    if base is None or base.filename is None or order is None or not array.size:
        return None
    offset = base.offset + array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    path = Path(base.filename)
    return path, stamp(path), array.dtype, array.shape, order, offset


def _opened(path: Path, known: Stamp, dtype: Any, shape: tuple[int, ...], order: Any, offset: int) -> NDArray[Any]:
    """The array in the file."""
    if stamp(path) != known:
        raise OSError(f"{path} is missing here, or is not the file that it was where the fit was started")
    return np.asarray(np.memmap(path, dtype=dtype, mode="r", shape=shape, order=order, offset=offset))
