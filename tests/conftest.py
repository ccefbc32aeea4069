from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest
import torch

hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("repeatable")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"

WAITING = (
    "tests/parallel/",
    "tests/test_docs.py::test_snippets",
    "tests/test_docs.py::test_the_commands",
    "tests/cli/test_stopping.py",
    "tests/cli/test_streams.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for processes come first: at the end there are only short ones to share among the workers."""
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def shared_data() -> Path:
    """The real data sets, where they are at hand."""
    folder = Path(os.environ.get("MASKRANK_DATA_DIR", SHARED_DATA))
    if not (folder / "vowel.npz").is_file():
        pytest.skip(f"the public data sets are not in {folder}")
    return folder


@pytest.fixture
def few_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits without a budget of their own, as those of the command line, end after a few batches."""
    from maskrank.core.config import DEFAULT, PRESETS

    quick = {"max_batches": 24, "phase1_batches": 16, "calibration__steps": 24, "predictor__cycles": (24,)}
    monkeypatch.setitem(PRESETS, "default", DEFAULT.using(**quick))


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)
