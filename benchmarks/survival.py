"""Survival: are relevant features found, and how well do they predict beside Cox's model and a survival forest?

Usage: python benchmarks/survival.py SECTION [--seeds N] [--jobs 2] [--preset default] [--tag 0] [--out FILE.md]

simulated  400 patients, half of them censored, 1,000 columns of which 10 matter by a nonlinear hazard: are these found?
tables     public tables, five folds: concordance on a few columns, ours and others' [--tables whas500 ...]

Each section prints a table in Markdown and a verdict; --out appends both to a file, with the command beside them. Every
random state depends on the tag. ``--seeds`` is the number of draws (simulated), or of five-fold splits (tables).
scikit-survival and lifelines, which also hold the tables, and LassoNet are in the extra ``bench``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sections
from score_tools import Options, Section, Verdict, in_processes, needed
from sklearn.model_selection import StratifiedKFold
from survival_methods import METHODS, coxnet, encoded, lassonet

from maskrank import DualNetSurvival
from maskrank.estimators.hazards import concordance_index

PROG = "survival.py"
PATIENTS, COLUMNS, RELEVANT, FRESH = 400, 1_000, 10, 2_000
FOLDS = 5
OURS = "ours"


class Drawn(NamedTuple):
    """A simulated table."""

    X: Any
    time: Any
    event: Any
    relevant: Any


def log_hazard(X: Any) -> Any:
    """Of ten columns (n, 10): eight effects, six of them nonlinear, and a product, each of variance 1."""
    a, b, c, d, e, f, g, h, i, j = X.T
    effects = (a, -b, np.abs(c), np.sin(2 * d), e > 0.5, np.square(f), np.tanh(2 * g), -np.exp(h / 2), i * j)
    return sum((effect - effect.mean()) / effect.std() for effect in effects)


def simulated_table(options: Options, seed: int, *, rows: int = PATIENTS, fresh: bool = False) -> Drawn:
    """Exponential times, censored at exponential times of such a scale that half of the rows are.

    ``fresh`` rows are others of the same problem, with the columns in the same order.
    """
    rng = np.random.default_rng(options.entropy(9, seed, int(fresh)))
    relevant = np.random.default_rng(options.entropy(9, seed, 2)).choice(COLUMNS, RELEVANT, replace=False)
    X = rng.standard_normal((rows, COLUMNS))
    death, end = rng.exponential(np.exp(-log_hazard(X[:, relevant]))), rng.exponential(1.0, rows)
    end *= np.median(death / end)
    return Drawn(X, np.minimum(death, end), death <= end, relevant)


class Found(NamedTuple):
    """Relevant features among the ten chosen, and concordance on fresh rows: ours, and of the lasso."""

    ours: int
    lasso: int
    concordance: float
    lasso_concordance: float
    signal: bool


def find(options: Options, seed: int) -> Found:
    drawn, fresh = simulated_table(options, seed), simulated_table(options, seed, rows=FRESH, fresh=True)
    model = options.model(DualNetSurvival, RELEVANT, seed).fit(drawn.X, (drawn.time, drawn.event))
    data = encoded(pd.DataFrame(drawn.X), pd.DataFrame(fresh.X))
    chosen, risks = coxnet(data, drawn.time, drawn.event, RELEVANT, seed)
    return Found(
        int(model.support_[drawn.relevant].sum()),
        int(np.isin(drawn.relevant, chosen).sum()),
        model.score(fresh.X, (fresh.time, fresh.event)),
        concordance_index(fresh.event, fresh.time, risks["Coxnet"]),
        model.signal_,
    )


def simulated(options: Options) -> Section:
    """10 of 1,000 columns matter by a nonlinear hazard; 400 patients, half of them censored; s = 10 are chosen."""
    needed("sksurv")
    results = in_processes(find, options, [(seed,) for seed in range(options.seeds)])
    figures = np.array(results, dtype=float)
    rows = [*((str(seed), *result) for seed, result in enumerate(results)), ("mean", *figures.mean(axis=0))]
    body = [[name, f"{a:.3g}", f"{b:.3g}", f"{c:.3f}", f"{d:.3f}", f"{e:.3g}"] for name, a, b, c, d, e in rows]
    found = float(figures[:, 0].mean())
    return Section(
        ["draw", "found", "found by Coxnet", "concordance on 2,000 fresh rows", "Coxnet's", "signal"],
        body,
        [Verdict(f"{found:.1f} of {RELEVANT} found on average", "at least 8", found >= 8)],
    )


class PublicTable(NamedTuple):
    """How a table is loaded, its time and event, and the sizes that are compared."""

    load: Callable[[], tuple[pd.DataFrame, Any, Any]]
    sizes: tuple[int, ...] = (5,)


def _of_sksurv(name: str) -> Callable[[], tuple[pd.DataFrame, Any, Any]]:
    def load() -> tuple[pd.DataFrame, Any, Any]:
        from sksurv import datasets

        X, y = getattr(datasets, f"load_{name}")()
        event, time = y.dtype.names
        return X, y[time], y[event].astype(float)

    return load


def _rossi() -> tuple[pd.DataFrame, Any, Any]:
    from lifelines.datasets import load_rossi

    frame = load_rossi()
    return frame.drop(columns=["week", "arrest"]), frame["week"].to_numpy(float), frame["arrest"].to_numpy(float)


TABLES = {
    "whas500": PublicTable(_of_sksurv("whas500")),
    "gbsg2": PublicTable(_of_sksurv("gbsg2")),
    "veterans": PublicTable(_of_sksurv("veterans_lung_cancer")),
    "breast cancer": PublicTable(_of_sksurv("breast_cancer"), (5, 10)),
    "rossi": PublicTable(_rossi),
}


def compare(options: Options, name: str, size: int, repeat: int, fold: int) -> dict[str, float]:
    """Concordance on one fold by method; NaN where a method gives no answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, time, event = TABLES[name].load()
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=options.random_state(repeat))
    train, test = list(splits.split(X, event))[fold]
    model = options.model(DualNetSurvival, size, repeat, fold).fit(X.iloc[train], (time[train], event[train]))
    risks = {OURS: model.predict(X.iloc[test])}
    data, seed = encoded(X.iloc[train], X.iloc[test]), options.random_state(repeat, fold) % 2**31
    for method in METHODS:
        if method is lassonet and find_spec("lassonet") is None:
            continue
        risks |= method(data, time[train], event[train], size, seed)[1]
    return {
        method: np.nan if risk is None else concordance_index(event[test], time[test], np.asarray(risk, dtype=float))
        for method, risk in risks.items()
    }


def tables(options: Options, tables: list[str]) -> Section:
    """Concordance of DualNetSurvival, of a lasso, and of a forest on the same number of columns, chosen by each."""
    needed("sksurv", "lifelines")
    kinds = [(name, size) for name in tables for size in TABLES[name].sizes]
    jobs = [(*kind, repeat, fold) for kind in kinds for repeat in range(options.seeds) for fold in range(FOLDS)]
    results = pd.DataFrame(in_processes(compare, options, jobs))
    results["table"] = [f"{name}, {size} columns" for name, size, *_ in jobs]
    means = results.groupby("table", sort=False).mean()
    errors = results.groupby("table", sort=False).sem()
    body = [
        [name, *(f"{means.loc[name, method]:.3f} ± {errors.loc[name, method]:.3f}" for method in means)]
        for name in means.index
    ]
    verdicts = []
    for method in (method for method in ("Coxnet", "survival forest", "LassoNet") if method in means):
        behind = means.index[means[OURS] < means[method]]
        verdicts.append(Verdict(f"below {method}: {', '.join(behind) or 'none'}", "none", not len(behind)))
    return Section(["table", *means], body, verdicts)


SECTIONS: sections.Sections = {"simulated": (simulated, 10), "tables": (tables, 3)}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    own["tables"].add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sections.run_section(SECTIONS, parse(), PROG)
