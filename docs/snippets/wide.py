"""Six features of 2,000 matter, in a file that is not loaded."""

# --8<-- [start:write]
import numpy as np

from maskrank.datasets import make_ring_xor_sum

X, y, relevant = make_ring_xor_sum(1000, 2000, random_state=0)
np.save("wide.npy", X.astype(np.float32))
# --8<-- [end:write]

# --8<-- [start:fit]
from maskrank import DualNetClassifier

X = np.load("wide.npy", mmap_mode="r")
model = DualNetClassifier(n_features_to_select=6, random_state=0).fit(X, y)
print("chosen:  ", *model.result_.selected)
print("relevant:", *(f"x{i}" for i in relevant))
# --8<-- [end:fit]
