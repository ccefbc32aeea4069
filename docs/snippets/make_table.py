"""Writes the breast cancer table as two files: to learn from, and to predict."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

data = load_breast_cancer(as_frame=True)
table = data.data.assign(diagnosis=data.target_names[data.target])
known, new = train_test_split(
    table, test_size=0.3, stratify=table["diagnosis"], random_state=0
)
known.to_csv("cancer.csv", index=False)
new.to_csv("new.csv", index=False)
