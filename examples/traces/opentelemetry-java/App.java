// Traces with the OpenTelemetry SDK: Maven io.opentelemetry:opentelemetry-sdk, io.opentelemetry:opentelemetry-exporter-otlp.
// Each span is printed, too: io.opentelemetry:opentelemetry-exporter-logging-otlp
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.logging.otlp.OtlpJsonLoggingSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;

public class App {
  public static void main(String[] args) {
    OtlpHttpSpanExporter exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(System.getenv("LOGWEIR_INGEST_URL") + "/v1/traces")
            .addHeader("Authorization", "Bearer " + System.getenv("LOGWEIR_API_KEY"))
            .setCompression("gzip")
            .build();
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(Resource.builder().put("service.name", "checkout").put("service.version", "1.4.2").build())
            .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
            .addSpanProcessor(SimpleSpanProcessor.create(OtlpJsonLoggingSpanExporter.create()))
            .build();
    Tracer tracer = provider.tracerBuilder("orders").setInstrumentationVersion("2.0").build();

    Span request =
        tracer.spanBuilder("POST /orders").setSpanKind(SpanKind.SERVER).setAttribute("http.request.method", "POST").startSpan();
    Context within = Context.root().with(request);
    Span payment = tracer.spanBuilder("charge card").setParent(within).setSpanKind(SpanKind.CLIENT).startSpan();
    payment.setAttribute("order.id", "A-77 Zoë ☕");
    payment.setAttribute("order.number", Long.MAX_VALUE);
    payment.setAttribute("order.total", 49.5);
    payment.setAttribute("order.gift", true);
    payment.setAttribute(AttributeKey.stringArrayKey("order.items"), java.util.List.of("cup", "tea"));
    payment.recordException(new IllegalStateException("card declined"));
    payment.setStatus(StatusCode.ERROR, "card declined");
    payment.end();
    tracer
        .spanBuilder("orders publish")
        .setParent(within)
        .setSpanKind(SpanKind.PRODUCER)
        .addLink(payment.getSpanContext(), Attributes.of(AttributeKey.stringKey("reason"), "refund"))
        .startSpan()
        .end();
    request.end();
    provider.close();
  }
}
