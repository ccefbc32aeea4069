"""A class that one row in 33 belongs to."""

# --8<-- [start:table]
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 3000
payments = pd.DataFrame(rng.standard_normal((n, 15)).round(3)).add_prefix("v")
payments["country"] = rng.choice(
    ["DE", "FR", "PL", "XX"], n, p=[0.4, 0.3, 0.2, 0.1]
)
abroad = payments["country"] == "XX"
odds = -6.2 + 2.5 * payments["v4"] * payments["v9"] + 3 * abroad
fraud = rng.random(n) < 1 / (1 + np.exp(-odds))
print(f"{fraud.sum()} of {n} payments are fraud")
# --8<-- [end:table]

# --8<-- [start:fit]
from maskrank import DualNetClassifier

train, test = slice(2000), slice(2000, None)
model = DualNetClassifier(4, class_weight="balanced", random_state=0)
model.fit(payments[train], fraud[train])
print(model.result_)
for name in ("accuracy", "roc_auc", "average_precision"):
    figure = model.figures_[name]
    print(f"{name:17} {figure.value:.3f}, baseline {figure.baseline:.3f}")
# --8<-- [end:fit]

# --8<-- [start:test]
from sklearn.metrics import average_precision_score, confusion_matrix

probability = model.predict_proba(payments[test])[:, 1]
precision = average_precision_score(fraud[test], probability)
print(f"average precision on the test set: {precision:.3f}")
print(confusion_matrix(fraud[test], model.predict(payments[test])))
# --8<-- [end:test]
