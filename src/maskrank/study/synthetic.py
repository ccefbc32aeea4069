"""The paper's synthetic data (its Section 4.1): three problems of 10 features, s = 5, against nine other methods."""

from maskrank.study.spec import Part, Settings, Study

_OTHERS = ("dfs", "avgrad", "fs", "lasso", "rf", "rfe", "bahsic", "mrmr", "ccm")
_NETS = {"xor": (60, 30, 20), "xor_variance1": (60, 30, 20), "regression": (100, 50, 25), "orange_skin": (60, 30, 20)}


def _methods(hidden: tuple[int, ...]) -> dict[str, Settings]:
    with_nets = {name: {"hidden": hidden} for name in ("dfs", "avgrad")}
    return {"dualnet": {}, **{name: with_nets.get(name, {}) for name in _OTHERS}}


STUDY = Study(
    name="synthetic",
    title="Synthetic data: 3 or 4 of 10 features matter, s = 5",
    parts=tuple(Part(data, (5,), _methods(hidden), mlp=hidden) for data, hidden in _NETS.items()),
    quick=(
        Part("xor", (5,), {"dualnet": {}, "rf": {}, "ccm": {}}, folds=2),
        Part("regression", (5,), {"dualnet": {}, "lasso": {}}, folds=2, mlp=(100, 50, 25)),
    ),
    figures=("ranking_bars",),
)
