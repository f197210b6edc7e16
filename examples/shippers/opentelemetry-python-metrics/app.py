# Metrics with the OpenTelemetry SDK: pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import os

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

exporter = OTLPMetricExporter(
    endpoint=os.environ["LOGWEIR_INGEST_URL"] + "/v1/metrics",
    headers={"Authorization": "Bearer " + os.environ["LOGWEIR_API_KEY"]},
    compression=Compression.Gzip,
)
provider = MeterProvider(
    resource=Resource.create({"service.name": "checkout", "service.instance.id": "web-1"}),
    metric_readers=[PeriodicExportingMetricReader(exporter, export_interval_millis=60_000)],
)
meter = provider.get_meter("orders")
meter.create_counter("orders.created", description="Orders that were created.").add(7, {"order.kind": "gift ☕"})
meter.create_gauge("queue.length", unit="{order}").set(-2.5)
duration = meter.create_histogram("checkout.duration", unit="s", explicit_bucket_boundaries_advisory=[0.5, 1.0])
for seconds in (0.2, 0.7, 3.0):
    duration.record(seconds, {"method": "POST"})
provider.shutdown()
