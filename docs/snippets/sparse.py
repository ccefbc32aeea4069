"""Word counts in a sparse matrix: two of 3,000 decide, and only together."""

# --8<-- [start:fit]
import numpy as np
import scipy.sparse

from maskrank import DualNetClassifier

rng = np.random.default_rng(0)
words = rng.poisson(0.02, size=(1000, 3000))
words[:, :2] = rng.poisson(0.7, size=(1000, 2))
y = (words[:, 0] > 0) ^ (words[:, 1] > 0)
X = scipy.sparse.csr_matrix(words, dtype=np.float32)
model = DualNetClassifier(n_features_to_select=2, random_state=0).fit(X, y)
print(f"{X.nnz / np.prod(X.shape):.1%} of the entries are not zero")
print("chosen:", *model.result_.selected)
# --8<-- [end:fit]
