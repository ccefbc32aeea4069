python make_clinic.py

# --8<-- [start:rank]
maskrank rank trial.csv --target lab_0 --size 2 --checkpoint first
# --8<-- [end:rank]

# --8<-- [start:resume]
maskrank rank trial.csv --target lab_0 --size 2 --checkpoint first --resume
# --8<-- [end:resume]
