# Metrics with InfluxDB's client: pip install influxdb-client
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import os

from influxdb_client import InfluxDBClient, Point
from influxdb_client.client.write_api import SYNCHRONOUS

with InfluxDBClient(url=os.environ["LOGWEIR_INGEST_URL"], token=os.environ["LOGWEIR_API_KEY"], org="shop", enable_gzip=True) as client:
    writer = client.write_api(write_options=SYNCHRONOUS)
    orders = Point("orders").tag("host", "web-1").tag("kind", "gift, ☕").field("created", 7).field("note", "no sample")
    writer.write(bucket="metrics", record=[orders, Point("queue").tag("host", "web-1").field("value", -2.5)])
