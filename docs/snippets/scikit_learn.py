"""The estimators among those of scikit-learn."""

# --8<-- [start:pipeline]
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maskrank import DualNetClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
selector = DualNetClassifier(4, refit=False, random_state=0)
pipeline = make_pipeline(selector, StandardScaler(), SVC())
print(f"accuracy: {cross_val_score(pipeline, X, y, cv=2).mean():.3f}")
# --8<-- [end:pipeline]

# --8<-- [start:grid]
sizes = {"dualnetclassifier__n_features_to_select": [2, 6]}
search = GridSearchCV(pipeline, sizes, cv=2).fit(X, y)
print(search.best_params_, f"accuracy {search.best_score_:.3f}")
# --8<-- [end:grid]

# --8<-- [start:routing]
import numpy as np
import sklearn

with sklearn.config_context(enable_metadata_routing=True):
    selector.set_fit_request(sample_weight=True)
    svm = SVC().set_fit_request(sample_weight=True)
    weights = np.where(y == 2, 3.0, 1.0)
    pipeline = make_pipeline(selector, svm).fit(X, y, sample_weight=weights)
    print("chosen:", *pipeline[0].get_feature_names_out())
# --8<-- [end:routing]
