"""Two of 1,000 columns decide, and only together."""

# --8<-- [start:fit]
from maskrank import DualNetClassifier
from maskrank.datasets import make_xor_pair

X, y, relevant = make_xor_pair(1000, 1000, random_state=0)
print("columns that decide:", *(f"x{i}" for i in relevant))

model = DualNetClassifier(n_features_to_select=4, random_state=0).fit(X, y)
print(model.result_)
# --8<-- [end:fit]

# --8<-- [start:forest]
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif

forest = RandomForestClassifier(200, random_state=0).fit(X, y)
rankings = {
    "maskrank": model.ranking_,
    "forest": np.argsort(np.argsort(-forest.feature_importances_)) + 1,
    "F test": np.argsort(np.argsort(-f_classif(X, y)[0])) + 1,
}
for method, ranks in rankings.items():
    print(f"{method:9} places of the two columns:", *ranks[list(relevant)])
# --8<-- [end:forest]
