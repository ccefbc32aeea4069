"""Survival times from Python."""

# --8<-- [start:fit]
import numpy as np

from maskrank import DualNetSurvival

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 8))
died_at, left_at = (
    rng.exponential(np.exp(-np.abs(X[:, 3]))),
    rng.uniform(0, 2, 300),
)
time, event = np.minimum(died_at, left_at), died_at <= left_at

model = DualNetSurvival(2, random_state=0).fit(X, (time, event))
print(model.result_)
print("risk:", model.predict(X[:3]).round(2))
print("alive at 0.5 and 1:", model.predict_survival(X[:1], [0.5, 1.0]).round(2))
# --8<-- [end:fit]
