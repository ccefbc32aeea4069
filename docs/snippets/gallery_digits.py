"""Twenty of 64 pixels that tell ten digits apart."""

# --8<-- [start:fit]
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from maskrank import DualNetClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
model = DualNetClassifier(n_features_to_select=20, random_state=0).fit(X, y)

on_20 = SVC().fit(model.transform(X), y).score(model.transform(X_test), y_test)
on_64 = SVC().fit(X, y).score(X_test, y_test)
print(f"maskrank on 20 pixels:       {model.score(X_test, y_test):.3f}")
print(f"support vector machine on 20: {on_20:.3f}; on all 64: {on_64:.3f}")
# --8<-- [end:fit]
