# --8<-- [start:head]
head -5 penguins.csv
# --8<-- [end:head]

# --8<-- [start:rank]
maskrank rank penguins.csv --target body_mass_g --size 3 \
    --report penguins.html --csv ranking.csv --model penguins.maskrank
# --8<-- [end:rank]

# --8<-- [start:csv]
cut -d, -f1-4 ranking.csv
# --8<-- [end:csv]

# --8<-- [start:predict]
maskrank predict penguins.maskrank penguins.csv | head -4
# --8<-- [end:predict]

# --8<-- [start:explain]
maskrank explain penguins.maskrank penguins.csv --out explained.csv \
    --report explained.html
# --8<-- [end:explain]

# --8<-- [start:auto]
maskrank rank penguins.csv --target species --size auto --quiet
# --8<-- [end:auto]
