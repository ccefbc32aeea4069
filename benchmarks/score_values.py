"""Sections of `scores.py` on the shares themselves: do their intervals cover, and what do SAGE and SHAP say?"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import torch
from score_tools import (
    PROBLEMS,
    Options,
    Section,
    StageClock,
    Verdict,
    draw,
    in_processes,
    interleaved,
    mean_of,
    needed,
    on_fresh_rows,
    percent,
    value_function_of,
    warm_up,
)
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split
from torch import Tensor

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.core.probabilities import PROBABILITIES
from maskrank.core.scoring.masked_nets import MaskedNets
from maskrank.core.scoring.value_function import ValueFunction

COVERED = {"ring+xor": (1000, 30, 8), "orange skin": (512, 10, 6), "regression": (512, 10, 6), "xor": (512, 10, 5)}
FRESH_ROWS = 20_000
Z = 1.645  # of a 90 % interval
PEER_TABLES = {
    "breast cancer": (load_breast_cancer, DualNetClassifier),
    "diabetes": (load_diabetes, DualNetRegressor),
}
PEER_SIZE = 8
BACKGROUND_ROWS, MOST_PERMUTATIONS = 64, 2048  # of SAGE; more are more exact, and slower


class Covered(NamedTuple):
    """One fit of `coverage`: distances from the fresh shares in standard errors, and how far shares are from adding up.

    ``gap`` is the sum of the shares less the value of all chosen features, ``gap_error`` the standard error of the sum.
    """

    z: Any
    raw_z: Any
    relevant: Any
    exact: bool
    gap: float
    gap_error: float


def covered_fit(options: Options, name: str, seed: int) -> Covered:
    rows, d, size = COVERED[name]
    X, y, relevant = draw(options, name, seed, rows=rows, d=d)
    model, measured = value_function_of(options.model(PROBLEMS[name][1], size, seed), X, y)
    X_fresh, y_fresh, _ = draw(options, name, seed, rows=FRESH_ROWS, d=d, fresh=True)
    fresh = on_fresh_rows(model, measured.value, X_fresh, y_fresh)
    generator = torch.Generator().manual_seed(options.random_state(seed, 4))
    truth = fresh.shares(model.config_.score, generator)
    shares, value = measured.shares, measured.value
    everything = value(torch.ones((1, value.n_rows, size), dtype=torch.bool)).double().mean()
    of_row = shares.of_rows.sum(dim=1)
    return Covered(
        z=(model.feature_importances_[model.support_] - truth.non_negative().numpy()) / shares.errors.numpy(),
        raw_z=((shares.values - truth.values) / shares.errors).numpy(),
        relevant=np.isin(np.flatnonzero(model.support_), relevant),
        exact=size <= model.config_.score.max_exact_size,
        gap=float(abs(shares.total - everything)),
        gap_error=float(of_row.std() / np.sqrt(len(of_row))),
    )


def coverage(options: Options) -> Section:
    """90 % intervals of the chosen features' shares against the same nets' shares on 20,000 fresh rows."""
    jobs = interleaved(COVERED, options.seeds)
    fits = in_processes(covered_fit, options, jobs)
    body = []
    for title in (*COVERED, "all"):
        some = [fit for (name, _), fit in zip(jobs, fits, strict=True) if title in (name, "all")]
        z, relevant = (np.concatenate([getattr(fit, what) for fit in some]) for what in ("z", "relevant"))
        covered = [_share_covered(part) for part in (z, z[relevant], z[~relevant])]
        gap = max(fit.gap for fit in some)
        raw = _share_covered(np.concatenate([fit.raw_z for fit in some]))
        body.append([title, str(len(some)), *covered, raw, f"{z.mean():+.2f}", f"{z.std():.2f}", f"{gap:.1e}"])
    z = np.concatenate([fit.z for fit in fits])
    inside = (np.abs(z) <= Z).mean()
    verdicts = [Verdict(f"{percent(inside, 1)} covered", "80 to 97 %", bool(0.8 <= inside <= 0.97))]
    if exact := [fit.gap for fit in fits if fit.exact]:
        verdicts.append(Verdict(f"exact shares add up within {max(exact):.1e}", "1e-6", max(exact) <= 1e-6))
    if sampled := [fit.gap / fit.gap_error for fit in fits if not fit.exact]:
        verdicts.append(Verdict(f"sampled ones within {max(sampled):.1e} standard errors", "2", max(sampled) <= 2))
    return Section(
        [
            "problem",
            "fits",
            "covered",
            "relevant",
            "fillers",
            "before the projection",
            "mean z",
            "deviation of z",
            "largest gap",
        ],
        body,
        verdicts,
    )


def _share_covered(z: Any) -> str:
    return f"{percent((np.abs(z) <= Z).mean())} of {len(z)}" if len(z) else "none"


class RowsOfValue:
    """A value function asked for any rows, each with a mask of its own: what SAGE and SHAP want.

    Parameters
    ----------
    value : ValueFunction
    """

    def __init__(self, value: ValueFunction) -> None:
        self.value = value
        self.num_groups = value.n_features  # as SAGE calls it
        nets = value.predictor.nets.nets
        self._nets = [MaskedNets(nets.take(torch.tensor([fold]))) for fold in range(len(value.inputs))]

    @torch.no_grad()
    def outputs(self, rows: Tensor, masks: Tensor) -> Tensor:
        """Shrunk outputs of the net that did not learn from a row: (n,), (n, s) of bool -> (n, outputs)."""
        value = self.value
        folds, places = rows // value.inputs.shape[1], rows % value.inputs.shape[1]
        factor = value.shrinkage[folds, places].gather(1, masks.sum(dim=1, keepdim=True))
        outputs = torch.empty((len(rows), len(value.predictor.constant)))
        for fold in folds.unique().tolist():
            here = folds == fold
            added = self._nets[fold].added_by_feature(value.inputs[fold, places[here]].unsqueeze(0))
            outputs[here] = self._nets[fold].outputs(added, masks[here][None, None])[0, 0]
        return value.predictor.constant + factor * (outputs - value.predictor.constant)

    def saved(self, rows: Tensor, masks: Tensor) -> Tensor:
        """The loss that each row saves by its subset: (n,), (n, s) of bool -> (n,)."""
        value, y = self.value, self.value.y.flatten(0, 1)[rows]
        both = torch.stack([value.predictor.constant.expand(len(rows), -1), self.outputs(rows, masks)])
        without, with_features = value.task.loss(both, y)
        return (without - with_features) / value.unit

    def __call__(self, x: Any, masks: Any) -> Any:
        """An imputer for SAGE, whose x holds numbers of rows: probabilities, or numbers."""
        outputs = self.outputs(torch.from_numpy(x[:, 0].astype(np.int64)), torch.from_numpy(masks))
        outputs, task = outputs.double().numpy(), self.value.task
        return PROBABILITIES[task.kind](outputs) if task.discrete else outputs


class PassedMasks:
    """A masker for SHAP that hides nothing: it hands the mask on, behind the number of the row."""

    def __init__(self, s: int) -> None:
        self.shape = (1, s)

    def mask_shapes(self, row: Any) -> list[tuple[int, ...]]:
        return [self.shape[1:]]

    def __call__(self, mask: Any, row: Any) -> Any:
        return (np.concatenate([row, mask.astype(float)])[None],)


class Compared(NamedTuple):
    """One split of `peers`: rank correlations of our shares with others', and CPU seconds."""

    sage_marginal: float
    sage_same: float
    shap_same: float
    shap_output: float
    furthest: float
    ours_seconds: float
    sage_marginal_seconds: float
    sage_same_seconds: float
    shap_seconds: float


def compared_fit(options: Options, name: str, seed: int) -> Compared:
    import sage
    import shap
    from scipy.stats import spearmanr

    load, kind = PEER_TABLES[name]
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        test_size=0.3,
        random_state=options.random_state(seed, 5),
        stratify=y if kind is DualNetClassifier else None,
    )
    clock = StageClock()
    warm_up()
    model, measured = value_function_of(options.model(kind, PEER_SIZE, seed, callbacks=(clock,)), X, y)
    shares, game = measured.shares.values.numpy(), RowsOfValue(measured.value)
    loss = "cross entropy" if measured.value.task.discrete else "mse"
    predict = model.predict_proba_selected if measured.value.task.discrete else model.predict_selected
    background = np.random.default_rng(options.entropy(seed, 6)).permutation(len(X))[:BACKGROUND_ROWS]
    imputer = sage.MarginalImputer(predict, model.transform(X)[background])
    seconds = []

    def timed(run: Any) -> Any:
        started = time.process_time()
        result = run()
        seconds.append(time.process_time() - started)
        return result

    def sage_of(removal: Any, rows: Any, target: Any) -> Any:
        estimator = sage.PermutationEstimator(removal, loss, random_state=options.random_state(seed, 7))
        return estimator(rows, target, batch_size=256, n_permutations=MOST_PERMUTATIONS, thresh=0.03, bar=False).values

    def shap_of(x: Any) -> Any:
        rows, masks = torch.from_numpy(x[:, 0].astype(np.int64)), torch.from_numpy(x[:, 1:] > 0)
        return torch.column_stack([game.saved(rows, masks), game.outputs(rows, masks)]).double().numpy()

    held_y = measured.value.y.flatten(0, 1).numpy()
    rows = np.arange(len(held_y), dtype=float)[:, None]
    marginal = timed(lambda: sage_of(imputer, model.transform(X_test), y_test))
    same = timed(lambda: sage_of(game, rows, held_y))
    explainer = shap.explainers.ExactExplainer(shap_of, PassedMasks(PEER_SIZE))
    explainer(rows[:1], silent=True)  # compiles
    exact = timed(lambda: explainer(rows, silent=True).values)  # (rows, s, 1 + outputs)
    of_loss, of_outputs = exact[:, :, 0].mean(axis=0), np.abs(exact[:, :, 1:]).mean(axis=(0, 2))
    correlations = (float(spearmanr(shares, other).statistic) for other in (marginal, same, of_loss, of_outputs))
    furthest = float(np.max(np.abs(shares - of_loss) / measured.shares.errors.numpy()))
    return Compared(*correlations, furthest, clock.spent["score"], *seconds)


def peers(options: Options) -> Section:
    """Our shares beside SAGE's and SHAP's values, s = 8, fits on 70 % of the rows.

    SAGE with a marginal imputer (64 background rows) explains the final predictor on the other 30 %. With the same
    removal of features, SAGE and SHAP are given our nets as functions of a mask: exact values of the loss, and mean
    absolute values of the output.
    """
    needed("sage", "shap")
    jobs = interleaved(PEER_TABLES, options.seeds)
    fits = in_processes(compared_fit, options, jobs)
    body = []
    for title in PEER_TABLES:
        some = [fit for (name, _), fit in zip(jobs, fits, strict=True) if name == title]
        figures = [f"{mean_of(some, name):.2f}" for name in ("sage_marginal", "sage_same", "shap_same", "shap_output")]
        seconds = [f"{mean_of(some, name):.2f}" for name in Compared._fields if name.endswith("seconds")]
        body.append([title, str(len(some)), *figures, " / ".join(seconds)])
    by_table = [[fit for (name, _), fit in zip(jobs, fits, strict=True) if name == title] for title in PEER_TABLES]
    same = min(mean_of(some, name) for some in by_table for name in ("sage_same", "shap_same"))
    marginal = min(mean_of(some, "sage_marginal") for some in by_table)
    furthest = max(fit.furthest for fit in fits)
    return Section(
        [
            "Spearman correlation of our shares, by table",
            "splits",
            "with SAGE, marginal",
            "SAGE, same removal",
            "SHAP of the loss, same removal",
            "mean abs. SHAP of the output",
            "CPU s: our scores / SAGE marginal / SAGE same / SHAP",
        ],
        body,
        [
            Verdict(f"same removal: lowest mean Spearman {same:.2f}", ">= 0.95", same >= 0.95),
            Verdict(f"furthest from exact SHAP of the loss: {furthest:.2f} standard errors", "<= 1", furthest <= 1),
            Verdict(f"marginal SAGE: lowest mean Spearman {marginal:.2f}", ">= 0.95", marginal >= 0.95),
        ],
    )
