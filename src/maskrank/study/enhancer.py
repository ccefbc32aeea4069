"""The paper's enhancers and promoters of GM12878 (200 bp): 15 to 55 features, and what each method costs.

The file with the paper's 102 features is not generally at hand; these are the 93 features of the same authors, cell
line and window. The figures of the paper stand beside for orientation.
"""

from maskrank.study.spec import PaperFigure, Part, Settings, Study

DATA = "gm12878_200bp_3cl"
_HIDDEN = (300, 200, 50)
_METHODS: dict[str, Settings] = {
    "dualnet": {},
    "rf": {},
    "rfe": {"kernel": "linear"},
    "dfs": {"hidden": _HIDDEN, "lambda1": 0.008},
    "lime": {"hidden": _HIDDEN},
    "san_aggr": {},
    "san_global": {},
}

STUDY = Study(
    name="enhancer",
    title="Enhancers and promoters of GM12878: 15 to 55 of 93 features",
    parts=(Part(DATA, (15, 25, 35, 45, 55), _METHODS, mlp=_HIDDEN),),
    quick=(Part(DATA, (35,), {"dualnet": {"max_batches": 400}, "rf": {"n_estimators": 60, "max_depth": 12}}, folds=2),),
    paper=(
        PaperFigure(DATA, "dualnet", 0.9475, None, 35),
        PaperFigure(DATA, "dualnet", 0.948, None, 25),
        PaperFigure(DATA, "dfs", 0.944),
        PaperFigure(DATA, "rf", 0.936),
        PaperFigure(DATA, "rfe", 0.937, None, 35),
        PaperFigure(DATA, "lime", 0.941, None, 35),
        PaperFigure(DATA, "san_aggr", 0.921, None, 35),
        PaperFigure(DATA, "san_global", 0.916, None, 35),
    ),
    figures=("size_curves",),
)
