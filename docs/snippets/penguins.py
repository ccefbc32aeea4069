"""The tutorial from Python: what decides how heavy a penguin is?"""

# --8<-- [start:load]
import pandas as pd
from sklearn.model_selection import train_test_split

penguins = pd.read_csv("penguins.csv").dropna(subset="body_mass_g")
X, y = penguins.drop(columns="body_mass_g"), penguins["body_mass_g"]
X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
print(X.dtypes.to_string())
# --8<-- [end:load]

# --8<-- [start:fit]
from maskrank import DualNetRegressor

model = DualNetRegressor(n_features_to_select=3, random_state=0).fit(X, y)
print(model.result_)
print(model.size_curve_)
# --8<-- [end:fit]

# --8<-- [start:test]
import numpy as np

error = np.abs(model.predict(X_test) - y_test).mean()
without = np.abs(y.mean() - y_test).mean()
print(
    f"R² on the {len(y_test)} test penguins: {model.score(X_test, y_test):.2f}"
)
print(
    f"mean error: {error:.0f} g; of always guessing the mean: {without:.0f} g"
)
# --8<-- [end:test]

# --8<-- [start:explain]
explained = model.explain(X_test)
print(explained.to_frame().head(3).round().astype(int).to_string())
# --8<-- [end:explain]

# --8<-- [start:keep]
import maskrank

model.save("penguins.maskrank")
again = maskrank.load("penguins.maskrank")
penguin = {"species": "Gentoo", "flipper_length_mm": 215, "sex": None}
print(again.predict_selected(pd.DataFrame([penguin])).round())
# --8<-- [end:keep]

# --8<-- [start:pipeline]
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

selector = DualNetRegressor(3, refit=False, random_state=0)
selector.set_output(transform="pandas")
encoder = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["species", "sex"]),
    remainder="passthrough",
)
pipeline = make_pipeline(
    selector, encoder, RandomForestRegressor(random_state=0)
)
pipeline.fit(X, y)
print(
    f"R² of a forest on these 3 columns: {pipeline.score(X_test, y_test):.2f}"
)
# --8<-- [end:pipeline]
