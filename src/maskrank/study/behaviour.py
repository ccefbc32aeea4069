"""How the two nets learn: the losses of Phase II on a regression, on digits and on faces (supplement B.1)."""

from maskrank.study.selection import YALE_CNN
from maskrank.study.spec import Part, Study

STUDY = Study(
    name="behaviour",
    title="The losses of Phase II",
    parts=(
        Part("regression", (5,), {"dualnet": {"preset": "paper:regression"}}),
        Part("mnist38", (85,), {"dualnet": {}}, folds=2),
        Part("yale32", (10, 30), {"dualnet": YALE_CNN}, folds=2),
    ),
    quick=(Part("regression", (5,), {"dualnet": {}}, folds=2),),
    figures=("loss_curves",),
    keep_history=True,
)
