"""How many features of scikit-learn's diabetes table are enough?"""

# --8<-- [start:table]
from sklearn.datasets import load_diabetes

diabetes = load_diabetes(as_frame=True).frame
diabetes.to_csv("diabetes.csv", index=False)
# --8<-- [end:table]

# --8<-- [start:curve]
from maskrank import DualNetRegressor

X, y = diabetes.drop(columns="target"), diabetes["target"]
model = DualNetRegressor(8, random_state=0).fit(X, y)
print(model.size_curve_.to_frame().round(3).to_string(index=False))
print(model.size_curve_)
# --8<-- [end:curve]

# --8<-- [start:auto]
auto = DualNetRegressor("auto", max_features_to_select=8, random_state=0)
auto.fit(X, y)
print(auto.n_features_, "features:", *auto.result_.selected)
# --8<-- [end:auto]

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
