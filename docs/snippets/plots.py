"""Two plots of a model side by side."""

from sklearn.datasets import load_wine

from maskrank import DualNetClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
model = DualNetClassifier(3, random_state=0).fit(X, y)

# --8<-- [start:two]
import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained"
)
model.plot_ranking(ax=left)
model.plot_history(ax=right)
figure.savefig("model.png")
# --8<-- [end:two]
