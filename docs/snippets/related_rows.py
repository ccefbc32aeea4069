"""Four near copies of each of 150 patients, with a random label for each."""

# --8<-- [start:groups]
import numpy as np

from maskrank import DualNetClassifier

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(150), 4)
X = rng.standard_normal((150, 8))[patient] + 0.05 * rng.standard_normal(
    (600, 8)
)
y = rng.integers(0, 2, 150)[patient]

by_row = DualNetClassifier(3, random_state=0).fit(X, y)
by_patient = DualNetClassifier(3, random_state=0).fit(X, y, groups=patient)
for split, model in {"row": by_row, "patient": by_patient}.items():
    figure = model.figures_["accuracy"]
    print(f"split by {split:8} accuracy {figure.value:.2f} ± {figure.std:.2f}")
# --8<-- [end:groups]
