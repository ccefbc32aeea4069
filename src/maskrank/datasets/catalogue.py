"""Metadata of the public data sets: the entries of catalogue.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Source:
    """One original file of a data set.

    Attributes
    ----------
    file, url : str
    sha256 : str or None
        None where the checksum is not known.
    rows_sha256 : str or None
        Checksum of the sorted rows, for a table of numbers of which copies go round in another order.
    unpacked_sha256 : str or None
        Checksum of the file without its .gz, which is as welcome in a folder.
    """

    file: str
    url: str
    sha256: str | None = None
    rows_sha256: str | None = None
    unpacked_sha256: str | None = None


@dataclass(frozen=True)
class PublicDataset:
    """A data set that does not ship with the package.

    Attributes
    ----------
    rows, features, classes : int
        Of the file, before any preparation.
    about, citation, licence, notes : str
    file, sha256 : str or None
        An .npz copy with arrays X, y and, where there are names, feature_names.
    sources : tuple of Source
        The original files, in the order in which the reader takes them.
    origin : str
        Where the .npz copy is from, where there is no original file that can be downloaded.
    reader : str or None
        Which function of `formats` reads them.
    prepare : tuple of str
        Which steps of `preparation` follow, in order.
    image_shape : tuple of int or None
    image_order : {"C", "F"}
        Whether the file has its pixels row by row or column by column.
    variant_of : str or None
        The data set whose files this one shares.
    """

    name: str
    rows: int
    features: int
    classes: int
    about: str
    citation: str
    licence: str
    notes: str
    file: str | None = None
    sha256: str | None = None
    sources: tuple[Source, ...] = ()
    origin: str = ""
    reader: str | None = None
    prepare: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None
    image_order: str = "C"
    variant_of: str | None = None


def read_catalogue(text: str) -> dict[str, PublicDataset]:
    """The entries of a catalogue in TOML; a variant takes over what it does not say itself."""
    tables = tomllib.loads(text)
    return {name: _entry(name, tables.get(table.get("variant_of"), {}) | table) for name, table in tables.items()}


def _entry(name: str, table: dict[str, Any]) -> PublicDataset:
    shape = table.get("image_shape")
    table = table | {
        "sources": tuple(Source(**source) for source in table.get("sources", ())),
        "prepare": tuple(table["prepare"]),
        "image_shape": tuple(shape) if shape else None,
    }
    return PublicDataset(name=name, **table)


PUBLIC = read_catalogue((files("maskrank.datasets") / "catalogue.toml").read_text(encoding="utf-8"))
