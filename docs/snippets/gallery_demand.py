"""What drives the demand for ice cream? Learn the past, test on the future."""

# --8<-- [start:table]
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
days = pd.date_range("2023-01-01", periods=1000)
season = np.cos(2 * np.pi * (days.day_of_year - 200) / 365.25)
shop = pd.DataFrame({"date": days})
shop["temperature"] = (12 + 10 * season + rng.normal(0, 4, 1000)).round(1)
shop["price"] = rng.choice([2.0, 2.5, 3.0], 1000)
shop["weather"] = rng.choice(["sun", "cloud", "rain"], 1000)
for name in ("wind", "humidity", "visitors_of_museum", "petrol_price"):
    shop[name] = rng.normal(50, 10, 1000).round(1)
shop.loc[rng.random(1000) < 0.08, "temperature"] = np.nan  # a broken sensor
weekend, sun = days.day_of_week >= 5, shop["weather"] == "sun"
warmth = shop["temperature"].fillna(12)
mean = np.exp(
    2.5 + 0.06 * warmth + 0.5 * weekend + 0.3 * sun - 0.4 * shop["price"]
)
sold = rng.poisson(mean)
# --8<-- [end:table]

# --8<-- [start:fit]
from maskrank import DualNetCounts

past, future = slice(800), slice(800, None)
model = DualNetCounts(5, random_state=0)
model.fit(shop[past], sold[past], X_val=shop[future], y_val=sold[future])
print(model.result_)
print(f"D² on the last 200 days: {model.score(shop[future], sold[future]):.2f}")
# --8<-- [end:fit]
