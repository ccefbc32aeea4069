"""Where independent fits run: processes of this machine, through joblib.

What one fit does belongs to `estimators`, which jobs a study has to `study`.
"""
