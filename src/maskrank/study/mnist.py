"""The paper's MNIST subset: threes and eights, 85 of 784 pixels, its own test digits."""

from maskrank.study.spec import PaperFigure, Part, Study

_HIDDEN = (500, 250, 100)

STUDY = Study(
    name="mnist",
    title="MNIST, 3 against 8: 85 of 784 pixels",
    parts=(
        Part(
            "mnist38",
            (85,),
            {
                "dualnet": {},
                "dfs": {"hidden": _HIDDEN},
                "avgrad": {"hidden": _HIDDEN},
                "rf": {},
                "rf+mlp": {},
            },
            mlp=_HIDDEN,
        ),
    ),
    quick=(Part("mnist38", (85,), {"dualnet": {"max_batches": 400}}, folds=2),),
    paper=(
        PaperFigure("mnist38", "dualnet", 0.9931, 0.0008, 85),
        PaperFigure("mnist38", "dfs", 0.9742, 0.0030),
        PaperFigure("mnist38", "avgrad", 0.9927, 0.0004),
        PaperFigure("mnist38", "rf", 0.9884, 0.0003),
    ),
    figures=("importance_maps",),
)
