python compare.py

# --8<-- [start:xor]
maskrank compare xor.csv --target group --size 3 \
    --methods dualnet,rf,lasso,mrmr --folds 3
# --8<-- [end:xor]

# --8<-- [start:diabetes]
maskrank compare diabetes.csv --target target --size 5 \
    --methods dualnet,lasso --folds 3
# --8<-- [end:diabetes]
