"""A method that ours is compared with, on its own."""

# --8<-- [start:fit]
from sklearn.datasets import load_wine

from maskrank.baselines import make_baseline

X, y = load_wine(as_frame=True, return_X_y=True)
mrmr = make_baseline("mrmr", n_features_to_select=4).fit(X, y)
print(*mrmr.get_feature_names_out(), sep="\n")
# --8<-- [end:fit]
