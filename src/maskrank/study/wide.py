"""Wide tables: gene expression of 12,625 and 1,543 genes in the place of the paper's RNA-seq table of 20,531."""

from maskrank.study.spec import Part, Settings, Study

_METHODS: dict[str, Settings] = {"dualnet": {}, "rf": {}, "mrmr": {}}

STUDY = Study(
    name="wide",
    title="Wide tables: gene expression",
    parts=(
        Part("all_leukemia_12625", (20,), _METHODS),
        Part("lung_bhattacharjee2001", (49,), _METHODS),
    ),
    quick=(Part("lung_bhattacharjee2001", (49,), {"dualnet": {"max_batches": 400}}, folds=2),),
)
