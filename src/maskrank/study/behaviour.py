"""How the two nets learn: the losses of Phase II on a regression, on digits and on faces (supplement B.1)."""

from functools import partial

from maskrank.core.method.image_cnn import ImageCNN
from maskrank.study.spec import Part, Study

# The convolutional net on 32 x 32 subsets and rows would take a quarter of an hour a fit on two cores.
_YALE_CNN = {
    "operator": partial(ImageCNN, image_shape=(32, 32)),
    "n_subsets": 8,
    "batch_size": 16,
    "phase1_batches": 150,
    "max_batches": 400,
}

STUDY = Study(
    name="behaviour",
    title="The losses of Phase II",
    parts=(
        Part("regression", (5,), {"dualnet": {"preset": "paper:regression"}}),
        Part("mnist38", (85,), {"dualnet": {}}, folds=2),
        Part("yale32", (10, 30), {"dualnet": _YALE_CNN}, folds=2),
    ),
    quick=(Part("regression", (5,), {"dualnet": {}}, folds=2),),
    figures=("loss_curves",),
    keep_history=True,
)
