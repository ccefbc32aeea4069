"""A fit that can be resumed."""

# --8<-- [start:fit]
from sklearn.datasets import load_wine

from maskrank import DualNetClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
model = DualNetClassifier(3, random_state=0, checkpoint="kept")
model.fit(X, y)
# --8<-- [end:fit]
