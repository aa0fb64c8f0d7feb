"""Asks for a millisecond of the second of three days, each a file of three row groups, for hosts and days.

Argument: the directory.
"""
import datetime
import os
import pathlib
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

directory = sys.argv[1]
files = sorted(pathlib.Path(directory, "slices").glob("*/*/*.parquet"))
groups = [pq.ParquetFile(file).metadata.num_row_groups for file in files]
assert groups == [3, 3, 3], groups
table = ds.dataset(f"{directory}/slices", partitioning="hive")
times = sorted(table.to_table(columns=["begin_time"])["begin_time"].cast(pa.int64()).to_pylist())
begin = times[len(times) // 2]
end = begin + 1_000_000
count = sum(begin <= time < end for time in times)
assert 0 < count < 10_000, count
day = datetime.datetime.fromtimestamp(begin // 10**9, datetime.timezone.utc).date()

# pyarrow: the row groups of the files that are left.
at = [pa.scalar(time, pa.timestamp("ns", "UTC")) for time in (begin, end)]
condition = (pc.field("begin_time") >= at[0]) & (pc.field("begin_time") < at[1])
left = [len(part.subset(condition).row_groups) for part in table.get_fragments(condition)]
assert sum(left) == 1, left
assert table.to_table(filter=condition).num_rows == count
assert len(list(table.get_fragments(pc.field("day") == str(day)))) == 1
assert len(list(table.get_fragments(pc.field("host") == "nobody"))) == 0

# DuckDB: what its plans have of files and of row groups.
con = duckdb.connect()
read = f"EXPLAIN ANALYZE SELECT sum(duration_ns) FROM read_parquet('{directory}/slices/*/*/*.parquet')"


def plan(where):
    return "".join(con.sql(f"{read} WHERE {where}").fetchall()[0][1].split())


of_times = [f"make_timestamp_ns({time})::TIMESTAMPTZ_NS" for time in (begin, end)]
of_times = f"begin_time >= {of_times[0]} AND begin_time < {of_times[1]}"
for where, expect in [
    (of_times, "RowGroupsScanned:1/9"),
    ("duration_ns > 0", "RowGroupsScanned:9/9"),
    (f"day = DATE '{day}'", "1/3"),
]:
    assert expect in plan(where), plan(where)

# polars: what it says of itself.
script = f"""
import polars as pl
time, at = pl.col("begin_time"), [pl.lit(at).cast(pl.Datetime("ns", "UTC")) for at in ({begin}, {end})]
asked = pl.scan_parquet("{directory}/slices").filter((time >= at[0]) & (time < at[1]))
print(asked.select(pl.col("duration_ns").len()).collect().item())
"""
environment = {**os.environ, "POLARS_VERBOSE": "1"}
done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
assert done.returncode == 0 and int(done.stdout) == count, done
lines = sorted(line for line in done.stderr.splitlines() if "row groups" in line and "pushdown" in line)
read = [line.split("reading ")[1] for line in lines]
assert read == ["0 / 3 row groups", "0 / 3 row groups", "1 / 3 row groups"], done.stderr
print("pruned")
