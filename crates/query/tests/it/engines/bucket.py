"""Puts a directory into a bucket of a server, and reads it there.

Arguments: the program `isochrone-sql`, and the directory.
"""
import json
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
access = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
client = boto3.client("s3", endpoint_url=address, **access)
client.create_bucket(Bucket="traces")
for file in pathlib.Path(directory).rglob("*"):
    if file.is_file():
        client.upload_file(str(file), "traces", f"some/where/{file.relative_to(directory)}")
files = pyarrow.fs.S3FileSystem(
    endpoint_override=f"{host}:{port}", scheme="http", access_key="a", secret_key="b", region="us-east-1"
)
table = ds.dataset("traces/some/where/slices", filesystem=files, partitioning="hive").to_table()
found = {
    "n": table.num_rows,
    "sum": sum(value for value in table["duration_ns"].to_pylist() if value is not None),
    "hosts": len(set(table["host"].to_pylist())),
}
words = [program, "-q", "--format", "json", "-c", """
    SELECT count(*) AS n, sum(duration_ns) AS sum, count(DISTINCT host) AS hosts FROM slices
"""]
done = subprocess.run([*words, directory], capture_output=True, text=True)
assert done.returncode == 0 and json.loads(done.stdout) == [found] and found["n"] > 0, (done, found)
server.stop()
print(table.num_rows)
