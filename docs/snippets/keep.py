"""A model file, and predictions from it."""

# --8<-- [start:save]
from sklearn.datasets import load_wine

import maskrank
from maskrank import DualNetClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
model = DualNetClassifier(3, random_state=0).fit(X, y)
model.save("wine.maskrank")

again = maskrank.load("wine.maskrank")
chosen = list(again.get_feature_names_out())
print(chosen)
print(again.predict_selected(X[chosen].head(3)))
print(again.predict_proba(X.head(3)).round(3))
# --8<-- [end:save]

# --8<-- [start:onnx]
import onnxruntime

model.to_onnx("wine.onnx")
session = onnxruntime.InferenceSession("wine.onnx")
rows = X[chosen].head(3).to_numpy()
print(session.run(["probabilities"], {"X": rows})[0].round(3))
# --8<-- [end:onnx]
