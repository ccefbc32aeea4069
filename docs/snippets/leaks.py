"""Warnings of columns that leak the target."""

# --8<-- [start:warn]
import numpy as np
import pandas as pd

from maskrank.tables import identifier_warnings, leak_warnings

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 200)
table = pd.DataFrame({"age": rng.normal(60, 10, 200), "number": np.arange(200)})
table["autopsy"] = np.where(y == 1, "done", None)
for line in (*leak_warnings(table, y), *identifier_warnings(table, y)):
    print("-", line)
# --8<-- [end:warn]
