python make_clinic.py

# --8<-- [start:weight]
maskrank rank visits.csv --target outcome --size 2 --weight weight \
    --drop patient --drop date --drop stays
# --8<-- [end:weight]

# --8<-- [start:balanced]
maskrank rank visits.csv --target outcome --size 2 --balanced \
    --metric average_precision --drop patient --drop date --drop stays
# --8<-- [end:balanced]

# --8<-- [start:fold]
maskrank rank visits.csv --target outcome --size 2 --fold-by patient \
    --drop date --drop weight --drop stays
# --8<-- [end:fold]

# --8<-- [start:time]
maskrank rank visits.csv --target outcome --size 2 --time-order date \
    --drop patient --drop weight --drop stays
# --8<-- [end:time]

# --8<-- [start:forward]
maskrank compare visits.csv --target outcome --size 2 --methods rf,lasso \
    --time-order date --folds 3 --drop patient --drop weight --drop stays
# --8<-- [end:forward]

# --8<-- [start:survival]
maskrank rank trial.csv --time months --event died --size 2 \
    --model trial.maskrank
# --8<-- [end:survival]

# --8<-- [start:risk]
maskrank predict trial.maskrank trial.csv | head -4
# --8<-- [end:risk]

# --8<-- [start:counts]
maskrank rank visits.csv --target stays --task counts --size 2 \
    --drop patient --drop date --drop weight --drop outcome
# --8<-- [end:counts]

# --8<-- [start:groups]
cat > groups.json <<'JSON'
{"blood": ["lab_0", "lab_1", "lab_2"], "urine": ["lab_3", "lab_4", "lab_5"]}
JSON
maskrank rank visits.csv --target outcome --size 2 --group groups.json \
    --require age --drop patient --drop date --drop weight --drop stays
# --8<-- [end:groups]

# --8<-- [start:leak]
maskrank rank trial.csv --target died --size 2 --strict || echo "exit code $?"
# --8<-- [end:leak]

# --8<-- [start:json]
maskrank rank trial.csv --target lab_1 --size 2 --json - 2> facts.txt \
    | python -c "import json, sys; print(json.load(sys.stdin)['signal'])"
# --8<-- [end:json]

# --8<-- [start:checkpoint]
maskrank sweep visits.csv --target outcome --sizes 1,2 --folds 2 \
    --drop patient --drop date --checkpoint kept
maskrank sweep visits.csv --target outcome --sizes 1,2,3 --folds 2 \
    --drop patient --drop date --checkpoint kept --resume
# --8<-- [end:checkpoint]
