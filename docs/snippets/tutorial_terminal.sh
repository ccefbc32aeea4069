# --8<-- [start:table]
python make_table.py
# --8<-- [end:table]

# --8<-- [start:head]
cut -d, -f1-3,31 cancer.csv | head -4
# --8<-- [end:head]

# --8<-- [start:rank]
maskrank rank cancer.csv --target diagnosis --size 5 \
    --report cancer.html --csv ranking.csv --model cancer.maskrank
# --8<-- [end:rank]

# --8<-- [start:csv]
head -4 ranking.csv
# --8<-- [end:csv]

# --8<-- [start:predict]
maskrank predict cancer.maskrank new.csv | head -4
# --8<-- [end:predict]
