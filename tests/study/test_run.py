from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank.cli import app
from maskrank.datasets import load_dataset
from maskrank.datasets.catalogue import PUBLIC
from maskrank.datasets.loading import SYNTHETIC
from maskrank.study.figures import FIGURES, importance_maps
from maskrank.study.names import STUDIES, check_method
from maskrank.study.needles import run_needles
from maskrank.study.run import get_study, run_study
from maskrank.study.spec import PaperFigure, Part, Study
from maskrank.study.tables import cost_table, paper_table, score_table

SMALL = Study(
    name="small",
    title="A small study",
    parts=(Part("xor", (3, 5), {"mrmr": {}, "rf": {"n_estimators": 50, "max_depth": 6}}, folds=2),),
    quick=(),
    paper=(PaperFigure("xor", "rf", 0.5), PaperFigure("xor", "mrmr", 0.4, 0.1, 3), PaperFigure("xor", "ccm", 0.9)),
    figures=("ranking_bars", "size_curves"),
)


def run(out: Path, **changes: Any) -> pd.DataFrame:
    fits, failed = run_study(SMALL, out, quiet=True, **changes)
    assert not failed
    return fits


def test_a_study_writes_its_fits_tables_figures_and_facts(tmp_path: Path) -> None:
    fits = run(tmp_path, command="maskrank study small")
    assert len(fits) == 2 * 2 + 2  # the forest predicts from all features: one size is enough
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {
        *("fits.jsonl", "fits.csv", "tables.md", "costs.md", "run.json", "ranking_xor.png", "sizes.png"),
    }
    facts = json.loads((tmp_path / "run.json").read_text())
    assert facts["command"] == "maskrank study small"
    assert facts["fits"] == 6
    assert "torch" in facts["versions"]
    tables = (tmp_path / "tables.md").read_text()
    assert "rf (all features)" in tables
    assert "found of 3" in tables
    assert pd.read_csv(tmp_path / "fits.csv")["score"].tolist() == pytest.approx(fits["score"].tolist())


def test_seconds_are_those_of_each_size() -> None:
    fits = pd.DataFrame(
        {
            "method": ["dualnet", "dualnet", "dualnet", "rf"],
            "size": [3, 3, 5, 3],
            "seconds": [1.0, 2.0, 4.0, 8.0],
            "megabytes": [10.0, 30.0, 20.0, None],
        }
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in cost_table(fits).splitlines()]
    assert rows[0] == ["method", "s = 3", "s = 5", "MB"]
    assert rows[2:] == [["dualnet", "1.50", "4.00", "30"], ["rf (all features)", "8.00", "", ""]]


def test_a_run_that_was_killed_ends_with_the_same_tables(tmp_path: Path) -> None:
    run(tmp_path / "whole")
    run(tmp_path / "killed")
    file = tmp_path / "killed" / "fits.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2]) + lines[2][:25])  # in the middle of a line
    run(tmp_path / "killed", resume=True)
    assert (tmp_path / "killed" / "tables.md").read_text() == (tmp_path / "whole" / "tables.md").read_text()
    assert file.read_text().startswith("".join(lines[:2]))  # nothing was computed again


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_declared_with_names_that_exist(name: str) -> None:
    study = get_study(name)
    for part in (*study.parts, *study.quick):
        assert part.data in (*SYNTHETIC, *PUBLIC)
        for method in part.methods:
            check_method(method)
    for figure in study.paper:
        assert figure.method in study.part(figure.data).methods
    assert set(study.figures) <= set(FIGURES)
    assert len(study.smaller().jobs()) < len(study.jobs())


def test_a_study_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="study 'nothing' is not known; there are needles, learners, synthetic"):
        get_study("nothing")


def test_the_paper_stands_beside_what_came_out() -> None:
    fits = pd.DataFrame({"data": "xor", "method": "mrmr", "size": 3, "score": [0.5, 0.7]})
    table = paper_table(SMALL.paper, fits)
    assert "| xor, mrmr |   3 | 0.4000 ± 0.1000 | 0.6000 ± 0.1000 |    +0.2000 |" in table
    assert "| xor, ccm  | all |          0.9000 |               - |          - |" in table


def test_a_score_table_has_a_column_a_size() -> None:
    fits = pd.DataFrame({"method": ["mrmr"] * 4, "size": [3, 3, 5, 5], "score": [0.5, 0.7, 0.8, 0.8]})
    assert "0.6000 ± 0.1000 | 0.8000 ± 0.0000" in score_table(fits)


def test_maps_are_drawn_for_images(tmp_path: Path) -> None:
    image = load_dataset("xor", random_state=0)
    image = dataclasses.replace(image, image_shape=(2, 5))
    fits = pd.DataFrame({"data": "xor", "method": ["mrmr", "rf"], "size": 3, "fold": 0, "scores": [[*range(10)]] * 2})
    fits["selected"] = [[7, 8, 9]] * 2
    importance_maps(fits, {"xor": image}, tmp_path)
    assert (tmp_path / "maps_xor.png").stat().st_size > 1000


def test_all_studies_go_on_where_one_has_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskrank.study.names.STUDIES", ("mnist", "synthetic"))
    (tmp_path / "data").mkdir()
    arguments = ["study", "all", "--quick", "--methods", "rf", "-q", "--data-dir", str(tmp_path / "data")]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "failed: study mnist: " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"synthetic"}


def test_without_matplotlib_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for begin in (run, run_needles):
        with pytest.raises(ValueError, match=r"matplotlib is not installed: pip install 'maskrank\[study\]' brings it"):
            begin(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_method_that_is_not_known_is_named_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"method 'san' is not known; there are .*san_aggr"):
        run_study(get_study("synthetic").smaller(), tmp_path, methods=["rf", "san"])
    assert not list(tmp_path.iterdir())


def test_a_study_can_be_run_on_some_of_its_data_sets() -> None:
    assert [part.data for part in get_study("selection").of(("vowel", "glass")).parts] == ["glass", "vowel"]
    with pytest.raises(ValueError, match=r"study selection has no data set 'iris'; there are glass, .*yale32"):
        get_study("selection").of(("vowel", "iris"))


def test_a_study_can_be_run_at_some_of_its_sizes() -> None:
    study = get_study("enhancer").only((35, 36))
    assert {job["size"] for job in study.jobs()} == {35}
    assert {job["method"] for job in study.jobs()} == set(get_study("enhancer").parts[0].methods)
    with pytest.raises(ValueError, match="study enhancer has the sizes 15, 25, 35, 45, 55"):
        get_study("enhancer").only((36,))
