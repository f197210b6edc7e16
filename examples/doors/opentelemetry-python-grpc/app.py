# Logs, spans and metrics over gRPC with the OpenTelemetry SDK, to the door otlp_grpc: pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-grpc
#   opentelemetry-instrumentation-logging
# LOGWEIR_INGEST_URL=http://127.0.0.1:4317 LOGWEIR_API_KEY=KEY python app.py
# With TLS: https://, and OTEL_EXPORTER_OTLP_CERTIFICATE=ca.crt for an authority of your own.
import logging
import os

from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.logging.handler import LoggingHandler
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

url = os.environ["LOGWEIR_INGEST_URL"]
door = {
    "endpoint": url,
    "insecure": url.startswith("http://"),
    "headers": (("authorization", "Bearer " + os.environ["LOGWEIR_API_KEY"]),),
}
resource = Resource.create({"service.name": "checkout", "service.version": "1.4.2"})

spans = TracerProvider(resource=resource)
spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(**door)))
logs = LoggerProvider(resource=resource)
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(**door)))
logger = logging.getLogger("orders")
logger.setLevel(logging.INFO)
logger.addHandler(LoggingHandler(logger_provider=logs))
metrics = MeterProvider(resource=resource, metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter(**door))])

with spans.get_tracer("orders").start_as_current_span("POST /orders"):
    logger.info("order created for Zoë ☕", extra={"order.items": 3})
metrics.get_meter("orders").create_counter("orders").add(3, {"channel": "web"})
for provider in (logs, spans, metrics):
    provider.shutdown()
