from __future__ import annotations

import importlib
import re
import subprocess
import sys

import numpy as np
import pytest

from maskrank.baselines import BASELINES, make_baseline
from maskrank.baselines._base import Baseline

HEAVY = ("captum", "lime", "lassonet", "feature_engine", "matplotlib")


def test_importing_the_baselines_imports_no_library_of_theirs() -> None:
    code = f"import sys, maskrank.baselines, maskrank.baselines.lime, maskrank.baselines.avgrad; \
        assert not set({HEAVY}) & set(sys.modules), sorted(set({HEAVY}) & set(sys.modules))"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", BASELINES)
def test_an_entry_tells_the_truth(name: str) -> None:
    entry = BASELINES[name]
    module, _, attribute = entry.path.partition(":")
    method = getattr(importlib.import_module(module), attribute)
    assert issubclass(method, Baseline)
    assert hasattr(method, "predict") == (entry.scored_by == "own")
    assert entry.gives_scores == (method._gives != "set")
    assert (entry.library is None) == (entry.extra is None)


def test_an_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"method 'magic' is not known; there are {', '.join(BASELINES)}"):
        make_baseline("magic", 2)


@pytest.mark.parametrize(("name", "extra"), [("lime", "study"), ("avgrad", "study"), ("lassonet", "bench")])
def test_a_missing_library_is_named_in_one_line(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = BASELINES[name].library
    assert library is not None
    monkeypatch.setitem(sys.modules, library, None)
    line = f"{library} is not installed: pip install 'maskrank[{extra}]' brings it"
    with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
        make_baseline(name, 1)


def test_a_missing_library_is_named_by_the_class_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskrank.baselines.lime import LIME

    monkeypatch.setitem(sys.modules, "lime", None)
    monkeypatch.setitem(sys.modules, "lime.lime_tabular", None)
    with pytest.raises(ValueError, match=r"^lime is not installed: pip install 'maskrank\[study\]' brings it$"):
        LIME(1).fit(np.eye(8, 3), np.arange(8) % 2)


def test_settings_reach_the_method() -> None:
    assert make_baseline("rf", 3, n_estimators=7).get_params()["n_estimators"] == 7
    assert make_baseline("san_global", 3).get_params()["aggregate"] == "global"
