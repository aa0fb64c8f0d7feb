"""Reads all tables of a directory by each engine, and holds types, sums and rows against the answers of SQL.

Arguments: the directory, and a directory with the answer for each table as a file of Arrow.
"""
import pathlib
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

directory, answers = sys.argv[1:3]
con = duckdb.connect()
con.sql("SET TimeZone = 'UTC'")


def kind(of):
    """The name of a type, whatever text and repeated values are in memory."""
    of = of.value_type if pa.types.is_dictionary(of) else of
    return str(of).replace("large_string", "string").replace("string_view", "string")


def plain(column):
    """A column of numbers and text; times as ns."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def rows(table):
    return sorted(zip(*(map(str, plain(column).to_pylist()) for column in table.columns)))


def is_number(of):
    return pa.types.is_integer(of) or pa.types.is_timestamp(of)


def sums(expect):
    """Of each column the sum, or how many values are known."""
    def of(field):
        known = [value for value in plain(expect[field.name]).to_pylist() if value is not None]
        if is_number(field.type):
            return sum(known) if known else None
        return len(known)
    return [of(field) for field in expect.schema]


def files(table):
    return f"'{directory}/{table}/*/*/*.parquet'"


def sums_of_duckdb(table, expect):
    def of(field):
        if not is_number(field.type):
            return f'count("{field.name}")'
        value = f'epoch_ns("{field.name}")' if pa.types.is_timestamp(field.type) else f'"{field.name}"'
        return f"sum({value}::HUGEINT)::VARCHAR"
    query = f"SELECT {', '.join(map(of, expect.schema))} FROM read_parquet({files(table)})"
    return [None if value is None else int(value) for value in con.sql(query).fetchall()[0]]


def sums_of_polars(table, expect):
    def of(field):
        column = pl.col(field.name)
        if not is_number(field.type):
            return column.count()
        column = column.dt.timestamp("ns") if pa.types.is_timestamp(field.type) else column
        # A sum of nothing is 0 there.
        return pl.when(column.count() > 0).then(column.cast(pl.Int128).sum()).alias(field.name)
    return list(pl.scan_parquet(f"{directory}/{table}").select(map(of, expect.schema)).collect().row(0))


def by_duckdb(table, names):
    typed = f"read_parquet({files(table)}, hive_types = {{'{names[0]}': VARCHAR}})"
    columns = ", ".join(f'"{name}"' for name in names)
    return con.sql(f"SELECT {columns} FROM {typed}").to_arrow_table()


def by_polars(table, names):
    return pl.scan_parquet(f"{directory}/{table}").select(names).collect().to_arrow()


def by_pyarrow(table, names):
    return ds.dataset(f"{directory}/{table}", partitioning="hive").to_table(columns=names)


total = 0
for file in sorted(pathlib.Path(answers).iterdir()):
    table, expect = file.stem, pa.ipc.open_file(file).read_all()
    names, all_rows, all_sums = expect.schema.names, rows(expect), sums(expect)
    for summed in (sums_of_duckdb, sums_of_polars):
        assert summed(table, expect) == all_sums, (table, summed, summed(table, expect), all_sums)
    for read in (by_duckdb, by_polars, by_pyarrow):
        found = read(table, names)
        of = [[kind(schema.field(name).type) for name in names] for schema in (found.schema, expect.schema)]
        assert of[0] == of[1], (table, read, of)
        assert rows(found) == all_rows, (table, read)
        total += found.num_rows
print(total)
