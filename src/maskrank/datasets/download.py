"""Downloads of the original files, with pooch, into a cache."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maskrank.datasets.catalogue import PublicDataset, Source
from maskrank.datasets.public import ENVIRONMENT, cache_folder, check_source, where_from

SECONDS = 60  # timeout of a connection


def download(entry: PublicDataset) -> tuple[Path, ...]:
    """The original files of a data set, from the cache or else from their public addresses, verified."""
    if not entry.sources:
        raise FileNotFoundError(f"{entry.name}: {where_from(entry)}")
    try:
        import pooch  # noqa: F401
    except ImportError:
        raise ImportError(
            f"{entry.name}: downloads need pooch: pip install 'maskrank[study]'; "
            f"or name a folder that holds the files, with data_dir, --data-dir or {ENVIRONMENT}, which needs nothing"
        ) from None
    folder = cache_folder() / (entry.variant_of or entry.name)
    with _quiet_pooch():
        return tuple(_fetch(source, entry, folder) for source in entry.sources)


def _fetch(source: Source, entry: PublicDataset, folder: Path) -> Path:
    import pooch

    known = f"sha256:{source.sha256}" if source.sha256 else None
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=SECONDS)
    try:
        path = Path(pooch.retrieve(source.url, known, fname=source.file, path=folder, downloader=downloader))
    except ValueError:
        raise ValueError(f"{entry.name}: {source.url} gives another file: its sha256 is not {source.sha256}") from None
    except OSError as error:
        response = getattr(error, "response", None)
        if response is not None:
            response.close()  # a stream that pooch leaves open
        reason = type(error).__name__
        raise OSError(f"{entry.name}: {source.file} can't be downloaded ({reason}); {where_from(entry)}") from error
    try:
        return check_source(path, source)
    except ValueError:
        path.unlink()  # so that the next call downloads it anew
        raise


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    """Without pooch's advice on checksums, which is for its own callers."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
