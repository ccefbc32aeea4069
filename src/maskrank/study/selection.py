"""The paper's benchmark of feature selection: accuracy against the number of features on four data sets.

The faces are learned by the default's MLP: the paper's convolutional net takes minutes a fit on two cores and predicts
less in that time; `behaviour` shows its losses.
"""

from maskrank.study.spec import Part, Settings, Study

_FILTERS: dict[str, Settings] = {"rfe": {}, "bahsic": {}, "mrmr": {}, "ccm": {}}
_WIDE: dict[str, Settings] = {**_FILTERS, "rfe": {"step": 0.1}}
_SMALL = (2, 3, 4, 5, 6, 7, 8, 9)
_LARGE = (5, 10, 20, 30, 40, 50)

STUDY = Study(
    name="selection",
    title="Feature selection: accuracy against the number of features",
    parts=(
        Part("glass", _SMALL, {"dualnet": {}, **_FILTERS}),
        Part("glass_without_id", _SMALL[:-1], {"dualnet": {}, **_FILTERS}),
        Part("vowel", _SMALL, {"dualnet": {}, **_FILTERS}, published_test=False),
        Part("tox171", _LARGE, {"dualnet": {}, **_WIDE}),
        Part("yale32", _LARGE, {"dualnet": {}, **_WIDE}),
    ),
    quick=(
        Part("glass", (5,), {"dualnet": {}, **_FILTERS}, folds=2),
        Part("vowel", (5,), {"dualnet": {}, "ccm": {}}, folds=2, published_test=False),
    ),
    figures=("size_curves",),
)
