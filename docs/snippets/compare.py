"""Two tables to compare methods on: one that needs a net, one that hardly does."""

# --8<-- [start:table]
import pandas as pd
from sklearn.datasets import load_diabetes

from maskrank.datasets import make_xor

X, y, relevant = make_xor(512, random_state=0)
xor = pd.DataFrame(X).add_prefix("x").assign(group=y)
xor.to_csv("xor.csv", index=False)
diabetes = load_diabetes(as_frame=True).frame
diabetes.to_csv("diabetes.csv", index=False)
# --8<-- [end:table]
