# Logs with Python's logging through the OpenTelemetry SDK: pip install opentelemetry-sdk
#   opentelemetry-exporter-otlp-proto-http opentelemetry-instrumentation-logging
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import logging
import os

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.instrumentation.logging.handler import LoggingHandler
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource

exporter = OTLPLogExporter(
    endpoint=os.environ["LOGWEIR_INGEST_URL"] + "/v1/logs",
    headers={"Authorization": "Bearer " + os.environ["LOGWEIR_API_KEY"]},
    compression=Compression.Gzip,
)
provider = LoggerProvider(resource=Resource.create({"service.name": "checkout"}))
provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
logger = logging.getLogger("orders")
logger.setLevel(logging.INFO)
logger.addHandler(LoggingHandler(logger_provider=provider))

logger.info("order created for Zoë ☕", extra={"order.id": "A-77", "order.number": 9223372036854775807, "order.total": 49.5})
try:
    raise ValueError("card declined")
except ValueError:
    logger.exception("payment failed")
provider.shutdown()
