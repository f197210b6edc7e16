# Traces with the OpenTelemetry SDK: pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http. Each span is printed, too.
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY python app.py
import os

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

exporter = OTLPSpanExporter(
    endpoint=os.environ["LOGWEIR_INGEST_URL"] + "/v1/traces",
    headers={"Authorization": "Bearer " + os.environ["LOGWEIR_API_KEY"]},
    compression=Compression.Gzip,
)
provider = TracerProvider(resource=Resource.create({"service.name": "checkout", "service.version": "1.4.2"}))
provider.add_span_processor(BatchSpanProcessor(exporter))
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=lambda span: span.to_json(indent=None) + "\n")))
tracer = provider.get_tracer("orders", "2.0")

with tracer.start_as_current_span("POST /orders", kind=SpanKind.SERVER, attributes={"http.request.method": "POST"}):
    with tracer.start_as_current_span("charge card", kind=SpanKind.CLIENT) as payment:
        payment.set_attributes({"order.id": "A-77 Zoë ☕", "order.number": 9223372036854775807, "order.total": 49.5})
        payment.set_attributes({"order.gift": True, "order.items": ["cup", "tea"]})
        payment.record_exception(ValueError("card declined"))
        payment.set_status(Status(StatusCode.ERROR, "card declined"))
    links = [Link(payment.get_span_context(), {"reason": "refund"})]
    with tracer.start_as_current_span("orders publish", kind=SpanKind.PRODUCER, links=links):
        pass
provider.shutdown()
