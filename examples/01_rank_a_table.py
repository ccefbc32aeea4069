"""Rank the columns of a table that ships with scikit-learn."""

from sklearn.datasets import load_breast_cancer

from maskrank import DualNetClassifier

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
model = DualNetClassifier(n_features_to_select=6, random_state=0).fit(X, y)
print(model.to_frame().head(8))
print(f"accuracy on held-out rows: {model.validation_score_:.3f} (most frequent class: {model.baseline_score_:.3f})")
