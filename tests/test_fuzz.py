"""A slice of what benchmarks/fuzz.py tries, and all that was bad once."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(scope="module")
def fuzz() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("fuzz")


@pytest.fixture(scope="module")
def models(fuzz: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    target = fuzz.fuzz_models
    target.prepare(tmp_path_factory.mktemp("models"))
    return target


def wrong(tally: Any) -> list[Any]:
    """What was bad but for its time, which a busy machine makes long."""
    return [line for line in tally.bad if not line[2].startswith("slow")]


@pytest.mark.parametrize(("target", "cases"), [("tables", 300), ("reports", 300)])
def test_nothing_breaks_it(fuzz: ModuleType, tmp_path: Path, target: str, cases: int) -> None:
    fuzz.TARGETS[target].prepare(tmp_path)
    tally = fuzz.run_some(target, 7, 0, cases, tmp_path, limit=None)
    assert tally.done == cases
    assert wrong(tally) == []


def test_no_altered_model_breaks_it_or_predicts_something_else(
    fuzz: ModuleType, models: ModuleType, tmp_path: Path
) -> None:
    tally = fuzz.run_some("models", 7, 0, 250, tmp_path, limit=None)
    assert tally.done == 250
    assert wrong(tally) == []


@pytest.mark.parametrize("path", sorted((CORPUS / "tables").iterdir()), ids=lambda path: path.name)
def test_tables_that_were_bad_once(fuzz: ModuleType, path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome, said = fuzz.fuzz_tables.read(path, "x1" if path.suffix == ".npy" else "y", {})
    assert outcome in ("read", "refused"), said


@pytest.mark.parametrize("number", range(len(json.loads((CORPUS / "models.json").read_text()))))
def test_changes_of_metadata_that_were_bad_once(models: ModuleType, tmp_path: Path, number: int) -> None:
    path, value = json.loads((CORPUS / "models.json").read_text())[number]
    content, frame, _ = models.MODELS["binary"]
    document, head, arrays = models.taken_apart(content)
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    (tmp_path / "m").write_bytes(models.put_together(document, head, arrays))
    assert models.try_model(tmp_path / "m", frame) == ("refused", "")


def test_metadata_nested_too_deeply_are_refused(models: ModuleType, tmp_path: Path) -> None:
    content, frame, _ = models.MODELS["binary"]
    document, head, arrays = models.taken_apart(content)
    text = json.dumps(document)[:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    (tmp_path / "m").write_bytes(models.put_together(text, head, arrays))
    assert models.try_model(tmp_path / "m", frame) == ("refused", "")


def test_a_run_that_was_stopped_goes_on(fuzz: ModuleType, tmp_path: Path) -> None:
    words = ["tables", "--n", "6", "--state", str(tmp_path / "state.json")]
    first = fuzz.run(fuzz.parse([*words[:2], "3", *words[3:]]), lambda tally: None)
    again = fuzz.run(fuzz.parse(words), lambda tally: None)
    whole = fuzz.run(fuzz.parse(words[:3]), lambda tally: None)
    assert (first.done, again.done) == (3, 6)
    assert again.outcomes == whole.outcomes


def test_some_columns_of_a_damaged_arrow_file_end_no_process() -> None:
    """It depends on chance: once in some hundreds of readings, memory was overwritten."""
    lines = [
        "from maskrank.tables import ModelColumns, TableError, read_batches",
        "columns = ModelColumns({'a': 'numeric', 'b': 'categorical'})",
        "for _ in range(300):",
        "    try:",
        f"        list(read_batches({str(CORPUS / 'tables' / 'batch_metadata.feather')!r}, columns, 10**9, 100))",
        "    except TableError as error:",
        "        assert 'is damaged' in str(error)",
    ]
    assert subprocess.run([sys.executable, "-c", "\n".join(lines)], check=False).returncode == 0
