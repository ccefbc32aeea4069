"""Subsets of few rows and many features, judged by other learners: ours beside five methods of selection.

Usage: python benchmarks/larger_subsets.py SECTION [--divisions 0 1] [--sizes 20 50] [--out FILE], where SECTION is
elimination (the closed-form proposal alone) or fits (whole default fits). The published results are in
results/larger_subsets.md. Choices of the other methods, and accuracies, are kept in a temporary folder.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sections
import torch
from gene_tables import N_DIVISIONS, TABLES, Division, divide
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import rankdata
from score_tools import Options, Section, Verdict
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maskrank import DualNetClassifier
from maskrank.baselines import make_baseline
from maskrank.core.config import DEFAULT
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import MulticlassTask
from maskrank.core.proposals.backward_elimination import eliminate
from maskrank.core.proposals.screening import groups_wanted

PROG = "larger_subsets.py"
KEPT = Path(tempfile.gettempdir()) / "larger_subsets"
SIZES = (5, 10, 20, 50)
Ints = NDArray[np.int64]


def by_forest(X: Any, y: Any, size: int) -> Ints:
    model = RandomForestClassifier(500, random_state=0).fit(X, y)
    return np.argsort(-model.feature_importances_, kind="stable")[:size]


def by_l1(X: Any, y: Any, size: int) -> Ints:
    """The least penalty of a path under which one-vs-rest models have as many features; the largest of these."""
    chosen = np.arange(size)
    for strength in np.logspace(-2.5, 1.5, 17):
        model = LogisticRegression(l1_ratio=1.0, C=strength, solver="liblinear", random_state=0, max_iter=300)
        each = OneVsRestClassifier(model).fit(X, y).estimators_
        weight = np.abs(np.vstack([one.coef_ for one in each])).sum(axis=0)
        chosen = np.argsort(-weight, kind="stable")[:size]
        if (weight > 0).sum() >= size:
            break
    return chosen


def by_mrmr(X: Any, y: Any, size: int) -> Ints:
    return make_baseline("mrmr", size).fit(X, y).order_[:size]


def by_rfe(X: Any, y: Any, size: int) -> Ints:
    return make_baseline("rfe", size, kernel="linear", step=0.1).fit(X, y).order_[:size]


def by_hsic_lasso(X: Any, y: Any, size: int, *, pool: int = 800) -> Ints:
    """HSIC-Lasso (Yamada et al. 2014): a non-negative lasso of the kernel of classes on those of the features."""
    n = len(y)
    counts = np.bincount(y)
    target = _centred((y[:, None] == y) / counts[y])
    upper = np.triu_indices(n)
    weight = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0)).astype(np.float32)
    target = target[upper] * weight
    kernels = np.empty((X.shape[1], len(weight)), np.float32)
    for j, x in enumerate(X.T):
        kernels[j] = _centred(np.exp(-np.square(x[:, None] - x) / 2))[upper] * weight
        kernels[j] /= np.linalg.norm(kernels[j]) + 1e-12
    relevance = kernels @ (target / np.linalg.norm(target)).astype(np.float32)
    best = np.argsort(-relevance, kind="stable")[:pool]
    gram, overlap = (kernels[best] @ kernels[best].T).astype(np.float64), relevance[best].astype(np.float64)
    weights, gradient = np.zeros(len(best)), overlap.copy()
    for penalty in overlap.max() * np.logspace(-0.05, -4, 60):
        for _ in range(60):
            before = weights.copy()
            for j in np.flatnonzero((weights > 0) | (gradient > penalty)):
                new = max(0.0, weights[j] + (gradient[j] - penalty) / gram[j, j])
                if new != weights[j]:
                    gradient -= gram[j] * (new - weights[j])
                    weights[j] = new
            if np.abs(weights - before).max() < 1e-5:
                break
        if (weights > 0).sum() >= size:
            break
    order = np.lexsort((-overlap, -weights))
    return best[order[:size]]


def _centred(kernel: NDArray[Any]) -> NDArray[Any]:
    return kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()


OTHERS: dict[str, Callable[[Any, Any, int], Ints]] = {
    "RF": by_forest,
    "L1": by_l1,
    "mRMR": by_mrmr,
    "RFE": by_rfe,
    "HSIC-Lasso": by_hsic_lasso,
}
ORDERED_ONCE = ("RF", "mRMR", "RFE")  # smaller subsets are the first of the largest
LEARNERS: dict[str, Callable[[], Any]] = {
    "ExtraTrees": lambda: ExtraTreesClassifier(200, random_state=0),
    "1-NN": lambda: KNeighborsClassifier(1),
    "linear SVM": lambda: SVC(kernel="linear", C=1.0),
}


def scaled(division: Division) -> Division:
    scaler = StandardScaler().fit(division.X)
    return Division(scaler.transform(division.X), division.y, scaler.transform(division.X_test), division.y_test)


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What was made before under this name, or is made now."""
    path = KEPT / f"{name}.pkl"
    if path.exists():
        return pickle.loads(path.read_bytes())
    value = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(value))
    return value


def by_elimination(X: Any, y: Any, size: int) -> Ints:
    """The closed-form proposal of all rows, without nets."""
    config = DEFAULT.proposal
    rows = Rows(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    wanted = groups_wanted(size, config.screening)
    task, generator = MulticlassTask(int(y.max()) + 1), torch.Generator().manual_seed(0)
    order = eliminate(task, [rows], size, wanted=wanted, config=config.elimination, generator=generator)
    return np.array(order[:size])


def by_fit(X: Any, y: Any, size: int) -> Ints:
    return np.flatnonzero(DualNetClassifier(size, random_state=0).fit(X, y).support_)


def accuracies(table: str, number: int, division: Division, chosen: Ints) -> dict[str, float]:
    """Test accuracy of each learner on the chosen columns."""
    chosen = np.sort(chosen)
    name = hashlib.sha256(chosen.astype(np.int64).tobytes()).hexdigest()[:16]

    def judge() -> dict[str, float]:
        X, X_test = division.X[:, chosen], division.X_test[:, chosen]
        return {
            learner: float((make().fit(X, division.y).predict(X_test) == division.y_test).mean())
            for learner, make in LEARNERS.items()
        }

    result: dict[str, float] = kept(f"judged/{table}-{number}-{name}", judge)
    return result


Choose = Callable[[Any, Any, int], Ints]


def one_division(
    table: str, number: int, sizes: list[int], ours: Choose
) -> dict[tuple[int, str], tuple[dict[str, float], float]]:
    """Accuracies and CPU seconds by size and method."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    division = scaled(divide(table, number))
    found = {}
    for size in sizes:
        for method, choose in {"ours": ours, **OTHERS}.items():
            asked = max(SIZES) if method in ORDERED_ONCE else size

            def run(choose: Choose = choose, asked: int = asked) -> tuple[Ints, float]:
                started = time.process_time()
                chosen = choose(division.X, division.y, asked)
                return chosen, time.process_time() - started

            chosen, seconds = run() if method == "ours" else kept(f"chosen/{method}-{table}-{number}-{asked}", run)
            found[size, method] = accuracies(table, number, division, chosen[:size]), seconds
    return found


def compare(options: Options, ours: Choose, divisions: list[int], sizes: list[int], tables: list[str]) -> Section:
    jobs = [(table, number) for table in tables for number in divisions]
    results = Parallel(options.jobs)(delayed(one_division)(*job, sizes, ours) for job in jobs)
    found = dict(zip(jobs, results, strict=True))
    methods, body, verdicts = ["ours", *OTHERS], [], []
    for size in sizes:
        means = np.array(
            [
                [
                    [np.mean([found[table, k][size, m][0][learner] for k in divisions]) for m in methods]
                    for learner in LEARNERS
                ]
                for table in tables
            ]
        )  # (tables, learners, methods)
        ranks = rankdata(-means.round(9), axis=2)
        for place, learner in enumerate(LEARNERS):
            body.append(_row(size, f"accuracy, {learner}", means[:, place].mean(axis=0), "{:.3f}"))
            body.append(_row(size, f"rank, {learner}", ranks[:, place].mean(axis=0), "{:.2f}"))
        body.append(_row(size, "rank, all", ranks.mean(axis=(0, 1)), "{:.2f}"))
        seconds = [np.mean([found[job][size, m][1] for job in jobs]) for m in methods]
        body.append(_row(size, "CPU seconds", seconds, "{:.2f}"))
        mean = ranks.mean(axis=(0, 1))
        if size > 10:
            verdicts.append(Verdict(f"mean rank {mean[0]:.2f} at s = {size}", "at most 2.00", bool(mean[0] <= 2.0)))
        else:
            best = bool(mean[0] <= mean.min())
            verdicts.append(Verdict(f"mean rank {mean[0]:.2f} at s = {size}", f"at most {mean.min():.2f}", best))
    return Section(["s", "figure", *methods], body, verdicts)


def _row(size: int, title: str, values: Any, form: str) -> list[str]:
    return [str(size), title, *(form.format(value) for value in values)]


def elimination(options: Options, divisions: list[int], sizes: list[int], tables: list[str]) -> Section:
    """The closed-form elimination of all training rows, without nets.

    Test accuracy of three learners on the chosen columns, and its rank among six methods of the mean over the
    divisions, 1 the best: means over ten gene-expression tables and three generators.
    """
    return compare(options, by_elimination, divisions, sizes, tables)


def fits(options: Options, divisions: list[int], sizes: list[int], tables: list[str]) -> Section:
    """Whole default fits.

    Test accuracy of three learners on the chosen columns, and its rank among six methods of the mean over the
    divisions, 1 the best: means over ten gene-expression tables and three generators.
    """
    return compare(options, by_fit, divisions, sizes, tables)


SECTIONS: sections.Sections = {"elimination": (elimination, 1), "fits": (fits, 1)}


def main() -> None:
    parser, own = sections.parsers(SECTIONS, PROG, __doc__)
    for section in own.values():
        section.add_argument("--divisions", type=int, nargs="+", default=list(range(N_DIVISIONS)))
        section.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
        section.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    sections.run_section(SECTIONS, parser.parse_args(), PROG)


if __name__ == "__main__":
    main()
