"""A server of S3's protocol with the bucket `traces`: prints its address, and ends when its input does."""
import sys

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://{host}:{port}"
access = {"region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
boto3.client("s3", endpoint_url=address, **access).create_bucket(Bucket="traces")
print(address, flush=True)
sys.stdin.read()
server.stop()
