"""Where independent fits run: processes of this machine, a Dask cluster or Ray, as joblib's context says.

What one fit does belongs to `estimators`, which jobs a study has to `study`.
"""
