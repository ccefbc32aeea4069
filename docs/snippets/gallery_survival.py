"""What decides how long patients live, when half of them are censored?"""

# --8<-- [start:table]
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 500
trial = pd.DataFrame(rng.standard_normal((n, 10)).round(2)).add_prefix(
    "marker_"
)
trial["arm"] = rng.choice(["drug", "placebo"], n)
trial["age"] = rng.normal(60, 10, n).round()
helped = (trial["arm"] == "drug") & (trial["marker_3"] > 0)
hazard = np.exp(0.9 * trial["marker_7"].abs() - 1.6 * helped)
died_at = rng.exponential(24 / hazard)
left_at = rng.uniform(0, 40, n)
time, event = np.minimum(died_at, left_at), died_at <= left_at
print(f"{event.mean():.0%} of the {n} patients died while they were observed")
# --8<-- [end:table]

# --8<-- [start:fit]
from maskrank import DualNetSurvival

train, test = slice(350), slice(350, None)
model = DualNetSurvival(4, random_state=0)
model.fit(trial[train], (time[train], event[train]))
print(model.result_)
concordance = model.score(trial[test], (time[test], event[test]))
print(f"concordance on the 150 test patients: {concordance:.3f}")
# --8<-- [end:fit]

# --8<-- [start:curves]
months = np.arange(0, 37)
patient = trial[test].iloc[[0]].assign(marker_3=1.0, marker_7=0.5)
pair = pd.concat([patient.assign(arm="placebo"), patient.assign(arm="drug")])
curves = model.predict_survival(pair, months)
print("alive after 12 months:", curves[:, 12].round(2))
# --8<-- [end:curves]
