"""How many features of scikit-learn's diabetes table are enough?"""

# --8<-- [start:table]
from sklearn.datasets import load_diabetes

diabetes = load_diabetes(as_frame=True).frame
diabetes.to_csv("diabetes.csv", index=False)
# --8<-- [end:table]

# --8<-- [start:sweep]
from maskrank.study.own_table import compare_methods, smallest_size, sweep_table
from maskrank.tables import load_table

table = load_table("diabetes.csv", target="target")
fits, failed = compare_methods(
    table, ["dualnet"], [1, 3, 5, 8], folds=5, quiet=True
)
print(sweep_table(fits))
take = smallest_size(fits)
# --8<-- [end:sweep]
