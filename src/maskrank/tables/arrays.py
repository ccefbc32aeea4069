"""Arrays in .npz files: what a file declares is looked at before anything is read."""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.errors import TableError, require_unique
from maskrank.tables.memory import require_room
from maskrank.tables.packed import check_archive
from maskrank.tables.text import Reading

_NAMES = ("X", "y", "feature_names")
_LAST_CHARACTER = 0x10FFFF
_LONGEST = 1 << 20  # bytes of one value of a target or of a name

Array = NDArray[Any]


def read_npz(path: Path, limit: int) -> Reading:
    """X as columns and, where there is one, y as a column more."""
    where = str(path)
    arrays = _arrays(path, limit)
    if "X" not in arrays:
        raise TableError(f"{path}: has no array 'X'; an .npz table holds X, y and perhaps feature_names")
    X, y = arrays["X"], arrays.get("y")
    names = _names(arrays.get("feature_names"), X.shape[1], where)
    require_unique(names if y is None else [*names, "y"], where)
    frame = pd.DataFrame(X, columns=names, copy=False)
    return Reading(frame if y is None else pd.concat([frame, pd.Series(y, name="y")], axis=1))


def plain_numbers(array: Array) -> Array:
    """Numbers in the byte order of this machine, and of a type that frames have."""
    wide = array.dtype.kind == "f" and array.dtype.itemsize > 8
    kind = np.dtype(np.float64) if wide or array.dtype == np.float16 else array.dtype.newbyteorder("=")
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is infinite, and is refused as such
        return array.astype(kind, copy=False)


def _arrays(path: Path, limit: int) -> dict[str, Array]:
    """The arrays of a table, whose headers were found to be good."""
    try:
        check_archive(path, limit)
        headers = _headers(path)
        _check_shapes(headers, str(path))
        require_room(str(path), sum(prod(shape) * kind.itemsize for shape, kind in headers.values()), limit)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in headers}
    except (PermissionError, TableError, MemoryError):
        raise
    except Exception as error:  # numpy, zipfile, zlib and the parser of headers each raise their own kinds
        raise TableError(f"{path}: is not an .npz file of plain arrays, or it is damaged") from error
    return {name: _plain(name, array, str(path)) for name, array in arrays.items()}


def _headers(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and type of each array, by its name."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        members = set(archive.namelist())
        for name in _NAMES:
            if f"{name}.npy" not in members and name not in members:
                continue
            with archive.open(f"{name}.npy" if f"{name}.npy" in members else name) as member:
                version = np.lib.format.read_magic(member)
                read = _HEADERS[version]
                shape, _, kind = read(member)
            found[name] = (shape, kind)
    return found


def _check_shapes(headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]], where: str) -> None:
    """Refuse arrays that are no table."""
    if "X" not in headers:
        return
    (shape, kind), target = headers["X"], headers.get("y")
    if len(shape) != 2 or (target is not None and target[0] != shape[:1]):
        shapes = f"X has shape {shape}" + ("" if target is None else f" and y {target[0]}")
        raise TableError(f"{where}: {shapes}; (rows, features) and (rows,) are needed")
    if kind.kind not in "biuf":
        raise TableError(f"{where}: X holds values of type {_shown(kind)}; real numbers are needed")
    for name in ("y", "feature_names"):
        if name in headers and headers[name][1].itemsize > _LONGEST:
            size = headers[name][1].itemsize
            raise TableError(f"{where}: {name} holds values of {size:,} bytes each; at most {_LONGEST:,} are read")


def _plain(name: str, array: Array, where: str) -> Array:
    """An array of a type that frames have."""
    kind = array.dtype.kind
    if kind in "biuf":
        return plain_numbers(array)
    if kind == "U":
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        if not _is_text(native):
            raise TableError(f"{where}: {name} holds characters that no text has; numbers or text are needed")
        return native
    if kind == "S":
        try:
            text: Array = np.strings.decode(array, "utf-8")
            return text
        except UnicodeDecodeError as error:
            raise TableError(
                f"{where}: {name} holds bytes that are no UTF-8 text; numbers or text are needed"
            ) from error
    if kind == "M" and np.datetime_data(array.dtype)[0] != "generic":
        try:
            dates: Array = pd.Series(array).to_numpy()
            return dates
        except ValueError:  # a date beyond those that frames hold
            pass
    raise TableError(f"{where}: {name} holds values of type {_shown(array.dtype)}; numbers or text are needed")


def _is_text(array: Array) -> bool:
    """Whether all characters are such as Unicode has; NumPy looks at none of them."""
    codes = np.ascontiguousarray(array).reshape(-1).view(np.uint32) if array.dtype.itemsize else np.empty(0, np.uint32)
    return not ((codes > _LAST_CHARACTER) | ((codes >= 0xD800) & (codes < 0xE000))).any()


def _names(given: Array | None, width: int, where: str) -> list[str]:
    """The names of the features."""
    if given is None:
        return [f"x{i}" for i in range(width)]
    if given.ndim != 1 or given.dtype.kind not in "Uiu":
        what = f"has shape {given.shape} and type {_shown(given.dtype)}"
        raise TableError(f"{where}: feature_names {what}; a list of texts, one for each feature, is needed")
    if len(given) != width:
        raise TableError(f"{where}: feature_names has {len(given)} entries for {width} features")
    return [str(name) for name in given.tolist()]


def _shown(kind: np.dtype[Any]) -> str:
    """A type in few words."""
    return "compound" if kind.names is not None else str(kind)


_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
