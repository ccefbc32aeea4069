"""Local files of the public data sets: their folders and checksums."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from maskrank.datasets.catalogue import PUBLIC, PublicDataset, Source

ENVIRONMENT = "MASKRANK_DATA_DIR"
CACHE_ENVIRONMENT = "MASKRANK_CACHE_DIR"


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of local copies: as given, or from the environment; None where there is neither."""
    folder = data_dir or os.environ.get(ENVIRONMENT)
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """The folder that downloads go to: from the environment, or the usual place of the platform."""
    folder = os.environ.get(CACHE_ENVIRONMENT)
    if folder:
        return Path(folder)
    import pooch

    return Path(pooch.os_cache("maskrank"))


def is_present(name: str, data_dir: str | os.PathLike[str] | None = None) -> bool:
    """Whether the files lie in the folder or, where none is named, in the cache (their content is not looked at)."""
    entry, folder = PUBLIC[name], data_folder(data_dir)
    if folder is None:
        try:
            folder = cache_folder() / (entry.variant_of or name)
        except ImportError:
            return False
    if entry.file is not None and (folder / entry.file).is_file():
        return True
    return bool(entry.sources) and all(_lying_in(folder, source) for source in entry.sources)


def dataset_path(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The local .npz copy of a public data set, its checksum verified.

    Raises
    ------
    KeyError
        The name is not known.
    FileNotFoundError
        There is no folder, or no such file in it.
    ValueError
        The file is not the one that was published, or the data set has no such file.
    """
    if name not in PUBLIC:
        raise KeyError(f"there is no data set {name!r}; there are {', '.join(PUBLIC)}")
    entry, folder = PUBLIC[name], data_folder(data_dir)
    if entry.variant_of is not None or entry.file is None:
        raise ValueError(f'{name} has no .npz file of its own: maskrank.datasets.load_dataset("{name}") gives it')
    if folder is None:
        raise FileNotFoundError(f"{name}: say where {entry.file} lies, with --data-dir DIR or {ENVIRONMENT}")
    path = folder / entry.file
    if not path.is_file():
        raise FileNotFoundError(f"{name}: there is no {entry.file} in {folder}")
    return check_copy(path, entry)


def find_in_folder(entry: PublicDataset, folder: Path) -> tuple[Path, ...]:
    """The files of a data set in a folder, verified: our .npz copy alone, or all the original files."""
    if entry.file is not None and (folder / entry.file).is_file():
        return (check_copy(folder / entry.file, entry),)
    found = [_lying_in(folder, source) for source in entry.sources]
    missing = [source.file for source, path in zip(entry.sources, found, strict=True) if path is None]
    if missing or not found:
        if entry.file is not None and not any(found):
            missing = [entry.file, *missing]
        raise FileNotFoundError(f"{entry.name}: there is no {', no '.join(missing)} in {folder}; {where_from(entry)}")
    return tuple(check_source(path, source) for path, source in zip(found, entry.sources, strict=True) if path)


def where_from(entry: PublicDataset) -> str:
    """Where to get the files, and where to put them."""
    put = f"put it into a folder that data_dir, --data-dir or {ENVIRONMENT} names"
    if not entry.sources:
        return f"{entry.file} is {entry.origin}; {put}"
    folders = dict.fromkeys(source.url.rpartition("/")[0] for source in entry.sources)
    return f"{', '.join(source.file for source in entry.sources)}: get it from {' and '.join(folders)}/, and {put}"


def check_copy(path: Path, entry: PublicDataset) -> Path:
    """Raise a ValueError where our .npz copy is not the one that is known."""
    if _sha256(path) != entry.sha256:
        raise ValueError(f"{path}: was altered or cut off: its sha256 is not {entry.sha256}")
    return path


def check_source(path: Path, source: Source) -> Path:
    """Raise a ValueError where an original file is not the one that was published."""
    expected = source.sha256 if path.name == source.file else source.unpacked_sha256
    if expected is not None and _sha256(path) != expected:
        raise ValueError(f"{path}: was altered or cut off: its sha256 is not {expected}; get it from {source.url}")
    if source.rows_sha256 is not None and _rows_sha256(path) != source.rows_sha256:
        raise ValueError(f"{path}: was altered or cut off: it has other rows than {source.url}")
    return path


def _lying_in(folder: Path, source: Source) -> Path | None:
    names = [source.file, source.file.removesuffix(".gz")] if source.unpacked_sha256 else [source.file]
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _rows_sha256(path: Path) -> str | None:
    """Checksum of the sorted rows of a table of numbers, to three decimals; None where it holds anything else."""
    try:
        rows = [[float(value) for value in line.split()] for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError:
        return None
    # 0.0 is added because some copies have written -0.000 as 0.000.
    lines = sorted(" ".join(f"{value + 0.0:.3f}" for value in row) for row in rows if row)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
