"""The tutorial from Python."""

# --8<-- [start:load]
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

data = load_breast_cancer(as_frame=True)
table = data.data.assign(diagnosis=data.target_names[data.target])
known, new = train_test_split(
    table, test_size=0.3, stratify=table["diagnosis"], random_state=0
)
X, y = known.drop(columns="diagnosis"), known["diagnosis"]
X_new, y_new = new.drop(columns="diagnosis"), new["diagnosis"]
print(X.shape, y.value_counts().to_dict())
# --8<-- [end:load]

# --8<-- [start:fit]
from maskrank import DualNetClassifier

model = DualNetClassifier(n_features_to_select=5, random_state=0).fit(X, y)
print(model.to_frame().head(8))
# --8<-- [end:fit]

# --8<-- [start:score]
accuracy = model.figures_["accuracy"]
print(f"on held-out rows:  {accuracy.value:.3f} ± {accuracy.std:.3f}")
print(f"always one answer: {model.baseline_score_:.3f}")
print(f"on fresh rows:     {model.score(X_new, y_new):.3f}")
print(f"anything in it:    {model.signal_} (p = {model.signal_pvalue_:.3f})")
# --8<-- [end:score]

# --8<-- [start:twins]
chosen = list(model.get_feature_names_out())
print(X[chosen].corr().round(2).to_string(header=False))
# --8<-- [end:twins]

# --8<-- [start:again]
other = DualNetClassifier(n_features_to_select=5, random_state=1).fit(X, y)
for fit in (model, other):
    score = fit.score(X_new, y_new)
    print(f"{score:.3f} on fresh rows:", *fit.result_.selected, sep="\n  ")
# --8<-- [end:again]

# --8<-- [start:keep]
import maskrank

model.save("cancer.maskrank")
again = maskrank.load("cancer.maskrank")
print(again.predict(X_new.head(3)))
print(again.predict_proba(X_new.head(3)).round(3))
# --8<-- [end:keep]

# --8<-- [start:pipeline]
from sklearn.ensemble import RandomForestClassifier

forest = RandomForestClassifier(random_state=0)
on_five = forest.fit(model.transform(X), y).score(model.transform(X_new), y_new)
on_all = forest.fit(X, y).score(X_new, y_new)
print(f"a forest on the 5 features: {on_five:.3f}; on all 30: {on_all:.3f}")
# --8<-- [end:pipeline]
