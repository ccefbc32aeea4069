"""From a file to a table of numbers, with errors a person can act on."""

from maskrank.tables.table import Table, load_table, select_columns
from maskrank.tables.text import TableError

__all__ = ["Table", "TableError", "load_table", "select_columns"]
