"""Which pixels tell a 3 from an 8?"""

# --8<-- [start:fit]
import numpy as np
from sklearn.datasets import load_digits

from maskrank import DualNetClassifier

X, y = load_digits(return_X_y=True)
kept = np.isin(y, (3, 8))
X, y = X[kept], y[kept]  # 357 images of 8 × 8 pixels
model = DualNetClassifier(n_features_to_select=10, random_state=0).fit(X, y)
print(f"accuracy with 10 of 64 pixels: {model.validation_score_:.3f}")
# --8<-- [end:fit]

# --8<-- [start:ranks]
for row in model.ranking_.reshape(8, 8):
    print(" ".join(f"{rank:2d}" if rank <= 10 else " ." for rank in row))
# --8<-- [end:ranks]
