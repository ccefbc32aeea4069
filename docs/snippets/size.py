"""How many features of scikit-learn's diabetes table are enough?"""

# --8<-- [start:table]
from sklearn.datasets import load_diabetes

diabetes = load_diabetes(as_frame=True).frame
diabetes.to_csv("diabetes.csv", index=False)
# --8<-- [end:table]

# --8<-- [start:sweep]
from maskrank.size_choice import smallest_size
from maskrank.study.own_table import compare_methods
from maskrank.tables import load_table

table = load_table("diabetes.csv", target="target")
fits, failed = compare_methods(
    table, ["dualnet"], [1, 3, 5, 8], folds=5, quiet=True
)
print(fits.groupby("size")["score"].agg(["mean", "sem"]).round(0))
print("enough:", smallest_size(fits))
# --8<-- [end:sweep]
