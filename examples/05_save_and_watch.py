"""Watch the search as it goes, save the model, and predict from the chosen columns alone."""

import tempfile
from pathlib import Path

import maskrank
from maskrank import DualNetClassifier, Progress
from maskrank.datasets import make_orange_skin


class Watch:
    """Says when the best subset changes."""

    optimal: tuple[int, ...] = ()

    def __call__(self, progress: Progress) -> None:
        if progress.phase == "search" and progress.optimal != self.optimal:
            self.optimal = progress.optimal
            print(f"batch {progress.batch:5d}: {progress.optimal}")


X, y, _ = make_orange_skin(512, random_state=0)
model = DualNetClassifier(4, callbacks=(Watch(),), random_state=0).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "shell.maskrank"
    model.save(path)
    again = maskrank.load(path)
print("chosen:", ", ".join(again.get_feature_names_out()))
print("three rows:", again.predict_selected(X[:3, again.support_]))
