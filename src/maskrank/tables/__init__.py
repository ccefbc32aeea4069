"""Reading: files and frames as a `Table` of numeric features and a target, with errors a person can act on.

Column types, decimal marks, identifiers and missing values belong here; scaling and splits to `estimators`.
"""

from maskrank.tables.table import Table, load_table, select_columns
from maskrank.tables.text import TableError

__all__ = ["Table", "TableError", "load_table", "select_columns"]
