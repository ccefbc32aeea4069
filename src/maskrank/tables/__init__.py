"""Reading: files as a `Table` of typed features and a target, with errors a person can act on.

Kinds of columns, decimal marks, dates, identifiers and missing values belong here; encoding, scaling and splits to
`estimators`.
"""

from maskrank.tables.description import describe_columns
from maskrank.tables.errors import TableError
from maskrank.tables.options import ColumnOptions, read_groups
from maskrank.tables.table import Table, load_table, select_columns

__all__ = ["ColumnOptions", "Table", "TableError", "describe_columns", "load_table", "read_groups", "select_columns"]
