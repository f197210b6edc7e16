#!/bin/sh
# Traces of the OpenTelemetry project's generator:
#   go install github.com/open-telemetry/opentelemetry-collector-contrib/cmd/telemetrygen@latest
# LOGWEIR_INGEST_URL=http://127.0.0.1:8081 LOGWEIR_API_KEY=KEY sh run.sh
exec telemetrygen traces --otlp-http --otlp-insecure --otlp-endpoint "${LOGWEIR_INGEST_URL#http://}" \
  --otlp-header "Authorization=\"Bearer $LOGWEIR_API_KEY\"" --service checkout --traces 3 --child-spans 2 \
  --telemetry-attributes 'order.id="A-77"' --status-code Error
