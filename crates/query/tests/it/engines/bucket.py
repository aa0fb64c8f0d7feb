"""Puts a directory into a bucket of a server, and has it read there.

Arguments: the program `isochrone-sql`, and the directory.
"""
import json
import os
import pathlib
import subprocess
import sys

import boto3
import pyarrow.dataset as ds
import pyarrow.fs
from moto.server import ThreadedMotoServer

program, directory = sys.argv[1:3]
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://{host}:{port}"
environment = {
    **os.environ,
    "AWS_ACCESS_KEY_ID": "a",
    "AWS_SECRET_ACCESS_KEY": "b",
    "AWS_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": address,
    "AWS_ALLOW_HTTP": "true",
}
access = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
client = boto3.client("s3", endpoint_url=address, **access)
client.create_bucket(Bucket="traces")
for file in pathlib.Path(directory).rglob("*"):
    if file.is_file():
        client.upload_file(str(file), "traces", f"some/where/{file.relative_to(directory)}")


def sql(query, of):
    words = [program, "-q", "--format", "json", "-c", query, of]
    return subprocess.run(words, env=environment, capture_output=True, text=True)


def ask(query, of="s3://traces/some/where"):
    done = sql(query, of)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


files = pyarrow.fs.S3FileSystem(
    endpoint_override=f"{host}:{port}", scheme="http", access_key="a", secret_key="b", region="us-east-1"
)
table = ds.dataset("traces/some/where/slices", filesystem=files, partitioning="hive").to_table()
hosts = table["host"].to_pylist()
expect = {
    "n": table.num_rows,
    "sum": sum(value for value in table["duration_ns"].to_pylist() if value is not None),
    "hosts": len(set(hosts)),
}
rows = ask("SELECT count(*) AS n, sum(duration_ns) AS sum, count(DISTINCT host) AS hosts FROM slices")
assert rows == [expect] and expect["n"] > 0, (rows, expect)
assert ask("SELECT count(*) AS n FROM slices", "s3://traces/some/where/") == [{"n": table.num_rows}]
of_one = ask(f"SELECT count(*) AS n FROM slices WHERE host = '{hosts[0]}'")
assert of_one == [{"n": hosts.count(hosts[0])}], of_one
for of, said in [
    ("s3://traces/nowhere", "cannot read _isochrone.json of s3://traces/nowhere"),
    ("s3://nothing/here", "cannot read _isochrone.json of s3://nothing/here"),
    ("s3://", "cannot read s3://"),
]:
    done = sql("SELECT 1", of)
    assert done.returncode == 2 and said in done.stderr, done
server.stop()
print(table.num_rows)
