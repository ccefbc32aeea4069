from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from maskrank.datasets import public


def test_every_local_copy_has_the_shape_it_is_said_to_have(shared_data: Path) -> None:
    for name, entry in public.PUBLIC.items():
        with np.load(public.dataset_path(name, str(shared_data))) as archive:
            assert archive["X"].shape == (entry.rows, entry.features)
            assert len(np.unique(archive["y"])) == entry.classes


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"any bytes"
    entry = replace(public.PUBLIC["vowel"], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(public.PUBLIC, "vowel", entry)
    monkeypatch.setenv(public.ENVIRONMENT, str(tmp_path))
    assert not public.is_present("vowel")
    (tmp_path / "vowel.npz").write_bytes(content)
    assert public.is_present("vowel")
    assert public.dataset_path("vowel") == tmp_path / "vowel.npz"
