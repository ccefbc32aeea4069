python -c "import numpy as np; from sklearn.datasets import load_digits; X, y = load_digits(return_X_y=True); \
    kept = np.isin(y, (3, 8)); np.savez('digits.npz', X=X[kept], y=y[kept])"

# --8<-- [start:rank]
maskrank rank digits.npz --size 10 --image 8x8 --report digits.html
# --8<-- [end:rank]
