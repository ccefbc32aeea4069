"""The ranking in the picture of the front page and of the README."""

from maskrank import DualNetRegressor
from maskrank.datasets import make_nonlinear_regression

X, y, relevant = make_nonlinear_regression(512, random_state=0)
model = DualNetRegressor(n_features_to_select=5, random_state=0).fit(X, y)
