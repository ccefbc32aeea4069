"""What importing costs, and what it must not do."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import maskrank


def loaded_after(statement: str) -> set[str]:
    program = f"import sys\n{statement}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_import_is_light() -> None:
    assert not loaded_after("import maskrank") & {"torch", "sklearn", "pandas", "matplotlib", "plotly", "rich"}


def test_a_fit_loads_neither_plotting_nor_the_compiler() -> None:
    fit = (
        "import numpy as np; from maskrank import DualNetClassifier; X = np.random.default_rng(0).random((40, 6))\n"
        "DualNetClassifier(2, max_batches=16, random_state=0).fit(X, X[:, 0] > 0.5)"
    )
    assert not loaded_after(fit) & {"matplotlib", "plotly", "jinja2.environment", "torch._dynamo"}


def test_a_process_that_repeats_a_fit_starts_without_scikit_learn() -> None:
    assert not loaded_after("import maskrank.estimators.stability") & {"sklearn", "pandas", "matplotlib", "rich"}


def test_help_does_not_import_torch() -> None:
    statement = "from maskrank.cli import app\nsys.argv = ['maskrank', '--help']\ntry:\n app()\nexcept SystemExit: pass"
    assert not loaded_after(statement) & {"torch", "sklearn", "pandas", "numpy"}


def test_every_public_name_exists() -> None:
    assert {"DualNetClassifier", "DualNetRegressor", "Ranking", "load"} <= set(dir(maskrank))
    for name in maskrank.__all__:
        assert getattr(maskrank, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        maskrank.nothing  # noqa: B018


def test_every_dependency_has_its_licence_listed() -> None:
    root = Path(__file__).parents[1]
    needed = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    listed = re.findall(r"^\| ([\w-]+) \| .*\b(?:BSD|MIT|Apache)", (root / "SECURITY.md").read_text(), re.MULTILINE)
    assert listed == [re.split(r"[<>=]", name)[0] for name in needed]
