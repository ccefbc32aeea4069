"""Writes the tables of the how-to pages: visits to a clinic, and a trial."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 240
visits = pd.DataFrame(rng.standard_normal((n, 6)).round(2)).add_prefix("lab_")
visits["ward"] = rng.choice(["north", "south", "east"], n)
visits["age"] = rng.normal(60, 10, n).round()
visits["patient"] = np.arange(n) // 2  # two visits of each patient
visits["date"] = pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")
visits["weight"] = rng.choice([1, 2], n)
severity = visits["lab_1"] + visits["lab_2"] * (visits["ward"] == "south")
visits["outcome"] = np.where(
    severity + rng.normal(0, 0.4, n) > 0.8, "ill", "well"
)
visits["stays"] = rng.poisson(np.exp(0.8 * visits["lab_1"]))
visits.loc[rng.random(n) < 0.1, "lab_4"] = np.nan
visits.to_csv("visits.csv", index=False)

trial = visits[[f"lab_{i}" for i in range(6)] + ["ward", "age"]].copy()
died_at = rng.exponential(20 / np.exp(visits["lab_1"].abs()))
left_at = rng.uniform(0, 40, n)
trial["months"] = np.minimum(died_at, left_at).round(2)
trial["died"] = (died_at <= left_at).astype(int)
trial.to_csv("trial.csv", index=False)
