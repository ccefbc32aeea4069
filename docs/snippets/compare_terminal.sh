python compare.py

# --8<-- [start:xor]
maskrank compare xor.csv --target group --size 3 \
    --methods dualnet,rf,lasso,mrmr --folds 3
# --8<-- [end:xor]

# --8<-- [start:diabetes]
maskrank compare diabetes.csv --target target --size 5 \
    --methods dualnet,lasso --folds 3
# --8<-- [end:diabetes]

# --8<-- [start:judged]
maskrank compare xor.csv --target group --size 3 --folds 3 \
    --methods mrmr+mlp,mrmr+svm --csv fits.csv --report compare.html
# --8<-- [end:judged]
