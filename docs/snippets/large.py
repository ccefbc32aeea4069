"""A table in several Parquet files, ranked within less memory than it needs."""

# --8<-- [start:write]
from pathlib import Path

import numpy as np
import polars as pl

Path("visits").mkdir()
for month in range(6):
    rng = np.random.default_rng(month)
    X = rng.standard_normal((100_000, 12), dtype=np.float32)
    logit = 2 * X[:, 2] + 2 * X[:, 5] * X[:, 9]
    visits = pl.DataFrame(X, schema=[f"x{i}" for i in range(12)])
    bought = rng.random(100_000) < 1 / (1 + np.exp(-logit))
    visits = visits.with_columns(bought=bought)
    visits.write_parquet(f"visits/{month}.parquet")
# --8<-- [end:write]

# --8<-- [start:fit]
from maskrank import DualNetClassifier

table = pl.scan_parquet("visits/*.parquet")
model = DualNetClassifier(3, memory_limit="700MB", random_state=0)
model.fit(table, "bought")
print("chosen:", *model.result_.selected)
print(f"on {model.sample_.n_rows:,} of {model.sample_.n_all:,} rows")
# --8<-- [end:fit]

# --8<-- [start:dataset]
import pyarrow.dataset as ds

from maskrank.tables import open_large

table = ds.dataset("visits")  # or
table = open_large("visits")  # a folder, .parquet, .feather, .arrow, .npy, .csv
# --8<-- [end:dataset]
