python large.py > /dev/null

# --8<-- [start:rank]
maskrank rank visits --target bought --size 3 --memory 700MB \
    --model bought.maskrank
# --8<-- [end:rank]

# --8<-- [start:predict]
maskrank predict bought.maskrank visits --out predictions.csv
head -3 predictions.csv
# --8<-- [end:predict]
