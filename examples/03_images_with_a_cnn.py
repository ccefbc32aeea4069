"""Which pixels tell a 3 from an 8? The operator is the convolutional net of the paper."""

from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from maskrank import DualNetClassifier, ImageCNN

X, y = load_digits(return_X_y=True)
kept = np.isin(y, (3, 8))
model = DualNetClassifier(
    n_features_to_select=10,
    operator=partial(ImageCNN, image_shape=(8, 8)),
    max_batches=160,
    n_subsets=16,
    random_state=0,
).fit(X[kept], y[kept])
print(f"accuracy on held-out rows with 10 of 64 pixels: {model.validation_score_:.3f}")
for row in model.ranking_.reshape(8, 8):
    print(" ".join(f"{rank:2d}" if rank <= 10 else " ." for rank in row))
