// Traces with the OpenTelemetry SDK for Go; each span is printed, too.
// LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY go run .
package main

import (
	"context"
	"errors"
	"log"
	"math"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func main() {
	ctx := context.Background()
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(os.Getenv("LOGWEIR_INGEST_URL")+"/v1/traces"),
		otlptracehttp.WithHeaders(map[string]string{"Authorization": "Bearer " + os.Getenv("LOGWEIR_API_KEY")}),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
	)
	if err != nil {
		log.Fatal(err)
	}
	printer, err := stdouttrace.New()
	if err != nil {
		log.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithSyncer(printer),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "checkout"), attribute.String("service.version", "1.4.2"))),
	)

	tracer := provider.Tracer("orders", trace.WithInstrumentationVersion("2.0"))
	ctx, request := tracer.Start(ctx, "POST /orders", trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", "POST"), attribute.Int("http.response.status_code", 500)))
	_, payment := tracer.Start(ctx, "charge card", trace.WithSpanKind(trace.SpanKindClient))
	payment.SetAttributes(
		attribute.String("order.id", "A-77 Zoë ☕"), attribute.Float64("order.total", 49.5), attribute.Bool("order.gift", true),
		attribute.Int64("order.number", math.MaxInt64), attribute.StringSlice("order.items", []string{"cup", "tea"}))
	payment.RecordError(errors.New("card declined"))
	payment.SetStatus(codes.Error, "card declined")
	payment.End()
	_, message := tracer.Start(ctx, "orders publish", trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithLinks(trace.Link{SpanContext: payment.SpanContext(), Attributes: []attribute.KeyValue{attribute.String("reason", "refund")}}))
	message.End()
	request.End()
	if err := provider.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
}
