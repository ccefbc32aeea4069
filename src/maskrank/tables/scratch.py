"""Folders for files that are needed for a while."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class Scratch:
    """A new folder among the temporary files, removed with this object, at the latest when Python ends.

    Attributes
    ----------
    path : Path
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="maskrank-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
