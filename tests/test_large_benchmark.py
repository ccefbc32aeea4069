"""The benchmark of large tables, in small."""

from __future__ import annotations

import importlib
import shlex
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("large")


def test_the_command_in_a_results_file_repeats_the_run(large):
    for name in large.SECTIONS:
        given = large.parse([name, "--rows", "500", "--out", "results.md"])
        words = shlex.split(large.sections.command_of(given, large.PROG))
        assert vars(large.parse(words[2:])) == {**vars(given), "out": None}


def test_a_process_is_measured(large, tmp_path: Path):
    section = large.wide(large.Options(), rows=200, columns=60, folder=tmp_path)
    assert section.body[0][0] == "200 × 60"
    assert section.body[0][-1] == "x0 x1"
    assert not any(tmp_path.iterdir())
