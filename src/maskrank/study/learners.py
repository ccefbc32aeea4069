"""Other learners on the chosen features: the protocol of NeuroFS and RelChaNet on the gene tables of this project.

Every method chooses 25, 50, 75 and 100 genes on four fifths of the rows; a Gaussian SVM, the nearest neighbour and 50
extremely randomised trees predict from them. Ours is judged by the same three, not by its own nets.
"""

from maskrank.study.names import JUDGES
from maskrank.study.spec import Part, Settings, Study

_SIZES = (25, 50, 75, 100)
_CHOOSERS: dict[str, Settings] = {"dualnet": {}, "rf": {}, "mrmr": {}, "rfe": {"step": 0.1}}
_METHODS: dict[str, Settings] = {
    f"{method}+{judge}": settings for method, settings in _CHOOSERS.items() for judge in JUDGES if judge != "mlp"
}

STUDY = Study(
    name="learners",
    title="Other learners on the chosen features",
    parts=(
        Part("all_leukemia_12625", _SIZES, _METHODS),
        Part("lung_bhattacharjee2001", _SIZES, _METHODS),
        Part("tox171", _SIZES, _METHODS),
    ),
    quick=(Part("lung_bhattacharjee2001", (25,), _METHODS, folds=2),),
)
