"""Fits on tables larger than memory: chosen on a sample, learned from all rows, the same through every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from maskrank import DualNetClassifier, DualNetRegressor, DualNetSurvival, load
from maskrank.cli import app
from maskrank.core.config import PRESETS
from maskrank.tables import TableError, memory, open_large

N, LIMIT = 9_000, 400_000
QUICK = {"max_batches": 48, "phase1_batches": 32, "calibration__steps": 24, "predictor__cycles": (40,)}
RUN = CliRunner()


@pytest.fixture(autouse=True)
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the bytes of tables alone, so that small ones are large; and fit quickly."""
    monkeypatch.setattr(memory, "PROCESS", 0)
    monkeypatch.setattr(memory, "_LEAST_SAMPLED", 100)
    monkeypatch.setitem(PRESETS, "default", PRESETS["default"].using(**QUICK, predictor__pass_batch=256))


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(N, 5)), columns=[f"x{i}" for i in range(5)])
    data["kind"] = rng.choice(["p", "q", "r"], N)
    z = 2 * data["x1"] + 2 * (data["kind"] == "q") - 0.7
    data["label"] = np.where(z + rng.logistic(size=N) > 0, "yes!", "no!")
    data["size"] = 3 * z + rng.normal(size=N)
    data["w"] = rng.integers(0, 3, N).astype(float)
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parts")
    for k, rows in enumerate(np.array_split(np.arange(N), 4)):
        table = pa.Table.from_pandas(frame().iloc[rows], preserve_index=False)
        pq.write_table(table, path / f"{k}.parquet", row_group_size=500)
    return path


def classifier(**settings: Any) -> DualNetClassifier:
    return DualNetClassifier(2, random_state=0, memory_limit=LIMIT, **settings)


def test_every_door_gives_the_same_fit(folder: Path) -> None:
    import dask.dataframe as dd

    columns = ["x0", "x1", "x2", "x3", "x4", "kind", "label"]
    lazy = pl.scan_parquet(folder / "*.parquet").select(columns)
    lazy_model = classifier().fit(lazy, "label")
    frames = dd.from_pandas(frame()[columns], npartitions=3)
    dask_model = classifier().fit(frames, "label")
    assert lazy_model.get_feature_names_out().tolist() == ["x1", "kind"]
    assert lazy_model.sample_ == dask_model.sample_
    np.testing.assert_array_equal(lazy_model.feature_importances_, dask_model.feature_importances_)
    sample = lazy_model.sample_
    assert sample is not None
    assert sample.n_all == N
    assert 0.9 * LIMIT / (48 * 7) < sample.n_rows < LIMIT / (48 * 7)
    assert lazy_model.figures_["accuracy"].value > 0.75


def test_a_dataset_with_weights_by_name(folder: Path) -> None:
    dataset = ds.dataset(folder)
    model = DualNetRegressor(2, random_state=0, memory_limit=LIMIT).fit(dataset, "size", sample_weight="w")
    assert {"x1"} <= set(model.get_feature_names_out())
    assert "w" not in model.feature_names_in_
    assert model.figures_["r2"].value > 0.7


def test_a_survival_table_has_two_targets(tmp_path: Path) -> None:
    data = frame()
    rng = np.random.default_rng(1)
    data["time"] = rng.exponential(np.exp(-data["x1"]))
    data["event"] = (rng.random(N) < 0.8).astype(int)
    data.drop(columns=["label", "size", "w"]).to_parquet(tmp_path / "t.parquet")
    model = DualNetSurvival(1, random_state=0, memory_limit=LIMIT).fit(
        open_large(tmp_path / "t.parquet"), ["event", "time"]
    )
    assert model.get_feature_names_out().tolist() == ["x1"]
    assert model.figures_["concordance"].value > 0.65


def test_a_table_that_fits_is_fitted_as_in_memory(folder: Path) -> None:
    data = frame().drop(columns=["size", "w"]).iloc[:1_000]
    lazy = pl.from_pandas(data).lazy()
    streamed = DualNetClassifier(2, random_state=0, memory_limit="1GB").fit(lazy, "label")
    whole = DualNetClassifier(2, random_state=0).fit(data.drop(columns="label"), data["label"])
    assert streamed.sample_ is None
    np.testing.assert_array_equal(streamed.feature_importances_, whole.feature_importances_)
    np.testing.assert_array_equal(
        streamed.predict_proba(data.drop(columns="label")), whole.predict_proba(data.drop(columns="label"))
    )


def test_what_a_large_table_does_not_go_with(folder: Path) -> None:
    lazy = pl.scan_parquet(folder / "*.parquet")
    with pytest.raises(TableError, match="the LazyFrame: there is no column 'lable'; did you mean 'label'"):
        classifier().fit(lazy, "lable")
    with pytest.raises(ValueError, match="y must be the name of a column"):
        classifier().fit(lazy, np.zeros(N))
    for name in ("sample_weight", "groups"):
        with pytest.raises(ValueError, match=f"{name} must be the name of a column"):
            classifier().fit(lazy, "label", **{name: np.ones(N)})
    with pytest.raises(ValueError, match="X_val must be in memory"):
        classifier().fit(lazy, "label", X_val=lazy, y_val="label")
    with pytest.raises(ValueError, match=r"memory_limit: 1 MB are too little .* at least 1 MB are needed"):
        DualNetClassifier(2, memory_limit=1000).fit(lazy, "label")
    with pytest.raises(ValueError, match="memory_limit='much': bytes above 0 are needed"):
        DualNetClassifier(2, memory_limit="much").fit(lazy, "label")


@pytest.mark.parametrize("form", ["folder", "csv"])
def test_rank_and_predict_within_a_limit(folder: Path, tmp_path: Path, form: str) -> None:
    source = folder
    if form == "csv":
        source = tmp_path / "table.csv"
        frame().round(3).to_csv(source, index=False)
    model, out, document = (str(tmp_path / name) for name in ("m.maskrank", "p.csv", "r.json"))
    arguments = ["rank", str(source), "--target", "label", "--drop", "size", "--drop", "w", "--size", "2"]
    result = RUN.invoke(app, [*arguments, "--memory", "400KB", "--model", model, "--json", document, "-q"])
    assert result.exit_code == 0, result.output
    assert "chosen on a uniform sample of" in result.output
    assert f"of {N:,} rows" in " ".join(result.output.split())
    assert '"of": 9000' in Path(document).read_text()
    assert load(model).get_feature_names_out().tolist() == ["x1", "kind"]
    result = RUN.invoke(app, ["predict", model, str(source), "--out", out, "--memory", "100KB", "-q"])
    assert result.exit_code == 0, result.output
    given = pd.read_csv(source) if form == "csv" else pd.concat(pd.read_parquet(p) for p in sorted(folder.iterdir()))
    predicted = pd.read_csv(out)
    expected = load(model).predict_proba_selected(given[["x1", "kind"]])
    np.testing.assert_allclose(predicted.filter(like="probability"), expected, atol=1e-9)
    assert len(predicted) == N


def test_rows_of_one_group_of_a_large_table_stay_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = frame().drop(columns=["w", "label"])
    model = classifier().fit(ds.dataset(folder), "label", groups="w", X_val=own[:500], y_val=frame()["label"][:500])
    assert "w" not in model.feature_names_in_
    assert model.sample_ is not None
    assert (model.sample_.n_all, model.sample_.n_learned) == (N, 0)  # of the others, some are of each group


def test_what_is_too_little_is_refused_in_a_line(folder: Path) -> None:
    result = RUN.invoke(app, ["rank", str(folder), "--target", "label", "--memory", "2KB"])
    assert result.exit_code == 2
    assert "maskrank: --memory: 1 MB are too little for a table of 9 columns" in result.output


def test_times_of_a_large_table_are_kept_apart_in_its_sample(folder: Path) -> None:
    words = ["rank", str(folder), "--target", "size", "--drop", "label", "--size", "2", "--memory", "400KB", "-q"]
    result = RUN.invoke(app, [*words, "--time-order", "w", "--json", "-"])
    assert result.exit_code == 0, result.output
    sample = json.loads(result.stdout)["sample"]
    assert (sample["of"], sample["learned_beside"]) == (N, 0)  # of the others, some are later than those learned from
    assert 100 < sample["rows"] < N / 2
    assert "the latest" in result.stderr


def test_methods_are_compared_on_a_sample_of_a_large_table(folder: Path, tmp_path: Path) -> None:
    words = ["compare", str(folder), "--target", "label", "--drop", "size", "--size", "2", "--methods", "mrmr"]
    page = tmp_path / "page.html"
    result = RUN.invoke(
        app, [*words, "--fold-by", "w", "--folds", "3", "--memory", "400KB", "--json", "-", "--report", str(page)]
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    rows, line = document["sample"]["rows"], "of 9,000 rows are used, a uniform sample"
    assert (document["sample"]["of"], len(document["fits"])) == (N, 3)
    assert 100 < rows < N / 2
    assert f"{rows:,} {line}" in result.stderr
    assert f"{rows:,} {line}" in page.read_text()
