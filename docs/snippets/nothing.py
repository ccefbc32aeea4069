"""A pair among too many features for the effort: not found, and said so."""

# --8<-- [start:fit]
from maskrank import DualNetClassifier
from maskrank.datasets import make_xor_pair

X, y, relevant = make_xor_pair(1000, 5000, random_state=0)
model = DualNetClassifier(
    n_features_to_select=2, search_effort="quick", random_state=0
).fit(X, y)
print("chosen:", *model.result_.selected, " signal:", model.signal_)
print(model.history_.coverage)
# --8<-- [end:fit]
