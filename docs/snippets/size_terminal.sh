python compare.py

# --8<-- [start:auto]
maskrank rank diabetes.csv --target target --size auto --max-size 8
# --8<-- [end:auto]

# --8<-- [start:sweep]
maskrank sweep diabetes.csv --target target --sizes 1,5 --folds 3 \
    --jobs 2 --csv sweep.csv
# --8<-- [end:sweep]
