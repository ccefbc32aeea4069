python compare.py

# --8<-- [start:rank]
maskrank rank diabetes.csv --target target --size 5 \
    --repeats 10 --jobs 2 --report diabetes.html
# --8<-- [end:rank]
