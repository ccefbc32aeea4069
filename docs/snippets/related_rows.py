"""Ten near copies of each of 60 patients, with a random label for each patient."""

# --8<-- [start:groups]
import numpy as np

from maskrank import DualNetClassifier

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(60), 10)
X = rng.standard_normal((60, 8))[patient] + 0.05 * rng.standard_normal((600, 8))
y = rng.integers(0, 2, 60)[patient]

by_row = DualNetClassifier(3, random_state=0).fit(X, y)
by_patient = DualNetClassifier(3, random_state=0).fit(X, y, groups=patient)
print(f"split by row:     accuracy {by_row.validation_score_:.2f}")
print(f"split by patient: accuracy {by_patient.validation_score_:.2f}")
# --8<-- [end:groups]
