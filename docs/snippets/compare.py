"""Two tables for comparing methods: one needs a net, one hardly does."""

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
