"""Ten measurements of a cell nucleus, each in three versions: which five?"""

# --8<-- [start:fit]
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from maskrank import DualNetClassifier

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
for seed in (0, 1):
    model = DualNetClassifier(5, random_state=seed).fit(X, y)
    print(f"seed {seed}, test accuracy {model.score(X_test, y_test):.3f}:")
    print("  " + ", ".join(model.result_.selected))
# --8<-- [end:fit]

# --8<-- [start:correlation]
kinds = ("radius", "perimeter", "area")
sizes = [f"{version} {kind}" for version in ("mean", "worst") for kind in kinds]
measures = [*sizes, "worst concave points"]
print(X[measures].corr().round(2).to_string(header=False))
# --8<-- [end:correlation]

# --8<-- [start:stability]
repeated = DualNetClassifier(5, n_repeats=6, random_state=0).fit(X, y)
table = repeated.stability_.to_frame()
print(
    table[["feature", "frequency", "rank_median"]]
    .head(8)
    .to_string(index=False)
)
# --8<-- [end:stability]
