"""What each feature adds to a prediction, on scikit-learn's diabetes table."""

# --8<-- [start:fit]
from sklearn.datasets import load_diabetes

from maskrank import DualNetRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = DualNetRegressor(5, random_state=0).fit(X, y)
explained = model.explain(X)
print(explained.to_frame().head(3).round(1).to_string())
# --8<-- [end:fit]

# --8<-- [start:sum]
total = explained.base_values + explained.values.sum(axis=1)
print(total[:3].round(1), model.predict(X)[:3].round(1))
# --8<-- [end:sum]
