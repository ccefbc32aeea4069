"""Refits on the workers of a Dask cluster."""

# --8<-- [start:dask]
import joblib
from dask.distributed import Client

from maskrank import DualNetClassifier
from maskrank.datasets import make_xor

X, y, relevant = make_xor(512, random_state=0)
model = DualNetClassifier(3, n_repeats=8, random_state=0)

if __name__ == "__main__":  # the workers that Client() starts import this file
    client = Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with client, joblib.parallel_config(backend="dask"):
        model.fit(X, y)
    print(model.stability_.to_frame().head(4))
# --8<-- [end:dask]
