"""Random labels: what a ranking looks like when there is nothing to find."""

# --8<-- [start:fit]
import numpy as np
from sklearn.linear_model import LogisticRegression

from maskrank import DualNetClassifier

rng = np.random.default_rng(0)
X, y = rng.standard_normal((150, 300)), rng.integers(0, 2, 150)

lasso = LogisticRegression(l1_ratio=1, solver="liblinear", C=1.0).fit(X, y)
used = (lasso.coef_ != 0).sum()
print(f"lasso: {used} features, training accuracy {lasso.score(X, y):.2f}")

model = DualNetClassifier(n_features_to_select=5, random_state=0).fit(X, y)
print(f"maskrank: signal {model.signal_}, p = {model.signal_pvalue_:.2f}")
print(model.result_)
# --8<-- [end:fit]
