from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from maskrank.datasets import public


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"any bytes"
    entry = replace(public.PUBLIC["vowel"], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(public.PUBLIC, "vowel", entry)
    monkeypatch.setenv(public.ENVIRONMENT, str(tmp_path))
    assert not public.is_present("vowel")
    (tmp_path / "vowel.npz").write_bytes(content)
    assert public.is_present("vowel")
    assert public.dataset_path("vowel") == tmp_path / "vowel.npz"


def test_a_data_set_is_there_when_all_its_original_files_are(tmp_path: Path) -> None:
    for source in public.PUBLIC["mcf7_200bp"].sources:
        assert not public.is_present("mcf7_200bp", tmp_path)
        (tmp_path / source.file).touch()
    assert public.is_present("mcf7_200bp", tmp_path)


def test_what_was_downloaded_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(public.ENVIRONMENT, raising=False)
    monkeypatch.setenv(public.CACHE_ENVIRONMENT, str(tmp_path))
    assert not public.is_present("glass_without_id")
    (tmp_path / "glass").mkdir()
    (tmp_path / "glass" / "glass.data").touch()
    assert public.is_present("glass")
    assert public.is_present("glass_without_id")
