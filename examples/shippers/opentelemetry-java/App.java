// Logs with the OpenTelemetry SDK: Maven io.opentelemetry:opentelemetry-sdk, io.opentelemetry:opentelemetry-exporter-otlp
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import io.opentelemetry.sdk.logs.export.BatchLogRecordProcessor;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Instant;

public class App {
  public static void main(String[] args) {
    OtlpHttpLogRecordExporter exporter =
        OtlpHttpLogRecordExporter.builder()
            .setEndpoint(System.getenv("LOGWEIR_INGEST_URL") + "/v1/logs")
            .addHeader("Authorization", "Bearer " + System.getenv("LOGWEIR_API_KEY"))
            .setCompression("gzip")
            .build();
    SdkLoggerProvider provider =
        SdkLoggerProvider.builder()
            .setResource(Resource.builder().put("service.name", "checkout").build())
            .addLogRecordProcessor(BatchLogRecordProcessor.builder(exporter).build())
            .build();
    Logger logger = provider.get("orders");

    logger
        .logRecordBuilder()
        .setTimestamp(Instant.now())
        .setSeverity(Severity.INFO)
        .setBody("order created for Zoë ☕")
        .setAttribute(AttributeKey.stringKey("order.id"), "A-77")
        .setAttribute(AttributeKey.longKey("order.number"), Long.MAX_VALUE)
        .setAttribute(AttributeKey.doubleKey("order.total"), 49.5)
        .emit();
    logger
        .logRecordBuilder()
        .setTimestamp(Instant.now())
        .setSeverity(Severity.ERROR)
        .setBody("payment failed")
        .setAttribute(AttributeKey.stringKey("exception.message"), "card declined")
        .emit();
    provider.close();
  }
}
