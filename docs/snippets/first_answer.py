"""Three of ten features matter, and only together."""

# --8<-- [start:fit]
from maskrank import DualNetClassifier
from maskrank.datasets import make_xor

X, y, relevant = make_xor(512, random_state=0)
model = DualNetClassifier(n_features_to_select=5, random_state=0).fit(X, y)
print(model.result_)
# --8<-- [end:fit]
