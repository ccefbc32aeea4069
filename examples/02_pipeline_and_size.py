"""Choose the number of features by cross-validation, with another classifier on top."""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maskrank import DualNetClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
selector = DualNetClassifier(max_batches=300, refit=False, random_state=0)
pipeline = make_pipeline(selector, StandardScaler(), SVC())
search = GridSearchCV(pipeline, {"dualnetclassifier__n_features_to_select": [2, 4, 6]}, cv=3, n_jobs=2).fit(X, y)
print(f"best size: {search.best_params_['dualnetclassifier__n_features_to_select']}, accuracy {search.best_score_:.3f}")
print("features:", ", ".join(search.best_estimator_[0].get_feature_names_out()))
