"""A fit that ends at any moment and is started again gives the bits of one that was not disturbed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import Callback, DualNetClassifier, DualNetRegressor
from maskrank.cli import app
from maskrank.core.recorder import Progress
from maskrank.estimators.checkpoints import Folder
from tests.estimators.nets import TwoLayers

Fit = tuple[Any, Any, Any]
QUICK = {"max_batches": 16, "random_state": 0}


def plain(**settings: Any) -> Fit:
    X = np.random.default_rng(0).standard_normal((80, 6))
    return DualNetClassifier(2, **QUICK, **settings), X, (X[:, 1] + X[:, 2] > 0).astype(int)


def wide(**settings: Any) -> Fit:
    """Correlated features: elimination proposes a subset, and it is reselected on all rows."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((60, 3))
    X = factors @ rng.standard_normal((3, 100)) + 0.7 * rng.standard_normal((60, 100))
    return DualNetClassifier(5, **QUICK, **settings), X, (factors[:, 0] + factors[:, 1] > 0).astype(int)


def mixed(**settings: Any) -> Fit:
    rng = np.random.default_rng(2)
    colour = rng.choice(["red", "green", "blue"], 90)
    size = np.where(rng.random(90) < 0.1, np.nan, rng.standard_normal(90))
    X = pd.DataFrame({"colour": colour, "size": size, "noise": rng.standard_normal(90), "more": rng.random(90)})
    return DualNetRegressor(2, **QUICK, **settings), X, (colour == "red") + np.nan_to_num(size)


def own_net(**settings: Any) -> Fit:
    X = np.random.default_rng(3).standard_normal((60, 6))
    return DualNetClassifier(2, operator=TwoLayers, **QUICK, **settings), X, (X[:, 4] > 0).astype(int)


def every_feature(**settings: Any) -> Fit:
    model, X, y = plain(**settings)
    return model.set_params(n_features_to_select="all"), X, y


def automatic(**settings: Any) -> Fit:
    model, X, y = plain(**settings)
    return model.set_params(n_features_to_select="auto"), X, y


KINDS = [plain, wide, mixed, own_net, every_feature, automatic]


class Stop(Callback):
    """Ends a fit at its n-th event; a negative number counts the events alone."""

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, 0

    def __call__(self, progress: Progress) -> None:
        self.seen += 1
        if self.seen == self.at:
            raise KeyboardInterrupt

    def on_stage(self, stage: str) -> None:
        self(Progress(stage, 0, 0, 0.0, 0.0))


def results(fit: Fit) -> dict[str, Any]:
    """All that a fit gives, but for the times."""
    model, X, _ = fit
    history = {name: value for name, value in asdict(model.history_).items() if name != "seconds"}
    names = ("ranking_", "feature_importances_", "feature_importances_std_", "raw_scores_")
    return {
        **{name: getattr(model, name).tobytes() for name in names},
        "predictions": model.predict(X).tobytes(),
        "history": history,
        "figures": model.figures_,
        "signal": model.signal_pvalue_,
        "curve": model.size_curve_.values.tobytes(),
        "explained": model.explain(X[:5]).values.tobytes(),
        "stability": None if model.stability_ is None else model.stability_.to_dict(),
    }


def fitted(fit: Fit) -> Fit:
    model, X, y = fit
    model.fit(X, y)
    return fit


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_a_fit_that_is_ended_again_and_again_gives_the_same_bits(make: Callable[..., Fit], tmp_path: Path) -> None:
    count = Stop(-1)
    undisturbed = results(fitted(make(callbacks=(count,))))
    folder = Folder(tmp_path / "kept", every=0)
    for at in range(2, count.seen, 1 + count.seen // 4):  # whatever the runs before have left
        with suppress(KeyboardInterrupt):
            fitted(make(checkpoint=folder, callbacks=(Stop(at),)))
    assert results(fitted(make(checkpoint=folder))) == undisturbed


KILLED = """
import sys
from maskrank.estimators.checkpoints import Folder
from tests.estimators.test_checkpoint import fitted, plain
fitted(plain(checkpoint=Folder(sys.argv[1], every=0), n_repeats=3))
"""


def test_a_process_that_is_killed_leaves_what_it_has_done(finished: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    for sign in ("08-predict-*", "refit-0000.state"):  # in a loop, and between two refits
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)])
        while process.poll() is None and not list(folder.glob(sign)):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert results(fitted(plain(checkpoint=folder, n_repeats=2))) == finished[1]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a finished fit with two refits, and its results."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, results(fitted(plain(checkpoint=folder, n_repeats=2)))


@pytest.fixture
def kept(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(finished[0], tmp_path / "kept"))


def test_the_folder_of_a_finished_fit_gives_its_results_again(
    finished: tuple[Path, dict[str, Any]], kept: Path
) -> None:
    told: list[Progress] = []
    assert results(fitted(plain(checkpoint=kept, n_repeats=2, callbacks=(told.append,)))) == finished[1]
    assert "predict" not in {progress.phase for progress in told}  # no predictor was trained


def test_refits_are_kept_one_by_one(finished: tuple[Path, dict[str, Any]], kept: Path) -> None:
    first, second = kept / "refit-0000.state", kept / "refit-0001.state"
    before = first.stat().st_mtime_ns
    second.unlink()
    assert results(fitted(plain(checkpoint=kept, n_repeats=2))) == finished[1]
    assert second.exists()
    assert first.stat().st_mtime_ns == before


def test_what_is_damaged_is_computed_again(finished: tuple[Path, dict[str, Any]], kept: Path) -> None:
    for number, file in enumerate(sorted(kept.glob("*.state"))):
        content = file.read_bytes()
        altered = content[:-1] + bytes([content[-1] ^ 1])
        file.write_bytes([altered, content[:-9], b"", b"{}\n"][number % 4])
    (kept / ".08-predict.state.abc").write_bytes(b"half-written")
    assert results(fitted(plain(checkpoint=kept, n_repeats=2))) == finished[1]
    assert not list(kept.glob(".*"))


def test_a_state_of_another_stage_is_refused_in_one_line(kept: Path) -> None:
    shutil.copy(kept / "refit-0000.state", kept / "08-predict.state")
    with pytest.raises(ValueError, match=r"08-predict.state does not fit this run: remove it to start anew \(.*\)$"):
        fitted(plain(checkpoint=kept))


def test_other_settings_are_refused_by_name(kept: Path) -> None:
    changes = {
        "n_features_to_select=2, not 3": {"n_features_to_select": 3},
        "random_state=0, not 1": {"random_state": 1},
        "max_batches=16, not 17": {"max_batches": 17},
        "operator=None, not 'TwoLayers'": {"operator": TwoLayers},
    }
    for message, change in changes.items():
        model, X, y = plain(checkpoint=kept)
        with pytest.raises(ValueError, match=f"is of {message}$"):
            model.set_params(**change).fit(X, y)


def test_other_data_are_refused_by_name(kept: Path) -> None:
    model, X, y = plain(checkpoint=kept)
    with pytest.raises(ValueError, match=r"is of other data$"):
        model.fit(X + 1e-9, y)
    with pytest.raises(ValueError, match=r"is of other targets$"):
        model.fit(X, 1 - y)
    with pytest.raises(ValueError, match=r"is of other weights of rows$"):
        model.fit(X, y, np.arange(1, 81))
    with pytest.raises(ValueError, match=r"is of other groups of rows$"):
        model.fit(X, y, groups=np.arange(80) // 2)
    with pytest.raises(ValueError, match=r"is of other columns$"):
        model.fit(pd.DataFrame(X, columns=list("abcdef")), y)
    assert not hasattr(model, "ranking_")


def test_other_versions_are_refused_by_name(kept: Path) -> None:
    identity = json.loads((kept / "checkpoint.json").read_text())
    identity["versions"]["torch"] = "1.0"
    (kept / "checkpoint.json").write_text(json.dumps(identity))
    with pytest.raises(ValueError, match=r"is of torch 1\.0, and this is"):
        fitted(plain(checkpoint=kept))


def test_without_a_random_state_the_one_of_the_folder_is_taken(
    finished: tuple[Path, dict[str, Any]], kept: Path
) -> None:
    model, X, y = plain(checkpoint=kept, n_repeats=2)
    assert results(fitted((model.set_params(random_state=None), X, y))) == finished[1]


def test_a_checkpoint_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"is a file: give the name of a folder$"):
        fitted(plain(checkpoint=tmp_path / "file"))
    with pytest.raises(ValueError, match="checkpoint=5 must be the name of a folder, or None"):
        fitted(plain(checkpoint=5))


def test_other_files_of_the_folder_stay(tmp_path: Path) -> None:
    others = [tmp_path / name for name in (".env", ".settings.state", "my.state", ".git/config")]
    for file in others:
        file.parent.mkdir(exist_ok=True)
        file.write_text("own")
    unfinished = [tmp_path / name for name in (".01-search.state.x1y2", ".checkpoint.json.x1y2")]
    for file in unfinished:
        file.write_text("half of a st")
    model, X, y = plain(checkpoint=tmp_path)
    model.fit(X, y)
    assert [file.read_text() for file in others] == ["own"] * len(others)
    assert not any(file.exists() for file in unfinished)


def test_a_folder_that_says_nothing_of_its_fit_is_started_anew(
    finished: tuple[Path, dict[str, Any]], kept: Path
) -> None:
    (kept / "checkpoint.json").write_text("{")
    assert results(fitted(plain(checkpoint=kept, n_repeats=2))) == finished[1]


@pytest.fixture
def table(tmp_path: Path) -> str:
    _, X, y = plain()
    path = tmp_path / "table.csv"
    pd.DataFrame(X, columns=list("abcdef")).assign(y=y).to_csv(path, index=False)
    return str(path)


def ranked(path: str) -> dict[str, Any]:
    """The JSON of a ranking, without times."""
    document: dict[str, Any] = json.loads(Path(path).read_text())
    return {name: value for name, value in document.items() if name != "seconds"}


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments, "-q"])
    return result.stderr if result.exit_code else ""


def test_a_command_goes_on_when_it_is_told_to(table: str, tmp_path: Path) -> None:
    folder, out = str(tmp_path / "kept"), str(tmp_path / "out.json")
    command = ["rank", table, "--target", "y", "--size", "2", "--json", out, "--checkpoint", folder]
    assert not run(*command)
    undisturbed = ranked(out)
    assert f"checkpoint {folder} holds an earlier run: --resume goes on with it" in run(*command)
    assert "is of --size 2, not 3" in run(*command, "--size", "3", "--resume")
    assert not run(*command, "--resume")
    assert ranked(out) == undisturbed


def test_a_comparison_keeps_every_finished_fit(table: str, tmp_path: Path) -> None:
    folder, out = tmp_path / "kept", tmp_path / "out.csv"
    command = ["compare", table, "--target", "y", "--size", "2", "--folds", "2", "--methods", "lasso,mrmr"]
    command += ["--checkpoint", str(folder), "--csv", str(out)]
    assert not run(*command)
    written, lines = pd.read_csv(out), (folder / "fits.jsonl").read_text().splitlines()
    (folder / "fits.jsonl").write_text("\n".join([*lines[:2], lines[2][:20]]))  # as a kill leaves it
    assert "--resume goes on with it" in run(*command)
    assert "is of folds=2, not 3" in run(*command, "--folds", "3", "--resume")
    assert not run(*command, "--resume")
    resumed = pd.read_csv(out)
    results = ["method", "fold", "score", "selected"]
    assert resumed[results].equals(written[results])
    assert resumed["seconds"].head(2).tolist() == written["seconds"].head(2).tolist()  # those were not done again


def test_resume_goes_with_a_checkpoint(table: str) -> None:
    for command in ("rank", "compare", "sweep"):
        assert "--resume goes with --checkpoint" in run(command, table, "--target", "y", "--resume")
