// Metrics with the OpenTelemetry SDK: Maven io.opentelemetry:opentelemetry-sdk, io.opentelemetry:opentelemetry-exporter-otlp
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.resources.Resource;
import java.util.List;

public class App {
  public static void main(String[] args) {
    OtlpHttpMetricExporter exporter =
        OtlpHttpMetricExporter.builder()
            .setEndpoint(System.getenv("LOGWEIR_INGEST_URL") + "/v1/metrics")
            .addHeader("Authorization", "Bearer " + System.getenv("LOGWEIR_API_KEY"))
            .setCompression("gzip")
            .build();
    SdkMeterProvider provider =
        SdkMeterProvider.builder()
            .setResource(
                Resource.builder()
                    .put("service.name", "checkout")
                    .put("service.instance.id", "web-1")
                    .put("service.version", "1.4.2")
                    .build())
            .registerMetricReader(PeriodicMetricReader.create(exporter))
            .build();
    Meter meter = provider.get("orders");

    meter
        .counterBuilder("orders.created")
        .setDescription("Orders that were created.")
        .build()
        .add(7, Attributes.of(AttributeKey.stringKey("order.kind"), "gift ☕"));
    meter.gaugeBuilder("queue.length").setUnit("{order}").build().set(-2.5);
    DoubleHistogram duration =
        meter.histogramBuilder("checkout.duration").setUnit("s").setExplicitBucketBoundariesAdvice(List.of(0.5, 1.0)).build();
    for (double seconds : new double[] {0.2, 0.7, 3}) duration.record(seconds, Attributes.of(AttributeKey.stringKey("method"), "POST"));
    provider.close();
  }
}
