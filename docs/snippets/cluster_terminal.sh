python compare.py

# --8<-- [start:scheduler]
dask scheduler --host 127.0.0.1 --port 8786 > scheduler.log 2>&1 &
# --8<-- [end:scheduler]

# --8<-- [start:workers]
dask worker tcp://127.0.0.1:8786 --nthreads 1 > first.log 2>&1 &
dask worker tcp://127.0.0.1:8786 --nthreads 1 > second.log 2>&1 &
# --8<-- [end:workers]

until grep -q "Scheduler at" scheduler.log; do sleep 0.2; done

# --8<-- [start:compare]
maskrank compare diabetes.csv --target target --size 5 \
    --methods rf,mrmr --folds 3 --cluster tcp://127.0.0.1:8786
# --8<-- [end:compare]

# --8<-- [start:rank]
maskrank rank diabetes.csv --target target --size 5 --repeats 10 \
    --cluster tcp://127.0.0.1:8786
# --8<-- [end:rank]

# --8<-- [start:end]
python -c "from dask.distributed import Client; \
    Client('tcp://127.0.0.1:8786').shutdown()"
# --8<-- [end:end]
