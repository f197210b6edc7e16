{{- define "logweir.name" -}}{{ printf "%s-%s" .root.Release.Name .role | trunc 63 | trimSuffix "-" }}{{- end }}

{{- define "logweir.labels" -}}
app.kubernetes.io/name: logweir
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "logweir.brokers" -}}
{{- if .Values.engines.kafka.enabled -}}
{{- $release := .Release.Name -}}
{{- range $i := until (int .Values.engines.kafka.replicas) }}{{ if $i }},{{ end }}{{ $release }}-kafka-{{ $i }}.{{ $release }}-kafka:9092{{ end -}}
{{- else -}}
{{- required "kafka.brokers must name the brokers, or engines.kafka.enabled must be true" (join "," .Values.kafka.brokers | default nil) -}}
{{- end -}}
{{- end }}

{{- define "logweir.clickhouse" -}}
{{- if .Values.engines.clickhouse.enabled -}}http://{{ .Release.Name }}-clickhouse:8123
{{- else -}}{{ required "clickhouse.url must be given, or engines.clickhouse.enabled must be true" (.Values.clickhouse.url | default nil) }}{{- end -}}
{{- end }}

{{- define "logweir.replication" -}}{{ if .Values.engines.kafka.enabled }}{{ .Values.engines.kafka.replicas }}{{ else }}{{ .Values.kafka.replication }}{{ end }}{{- end }}

{{- define "logweir.minInSync" -}}{{ min (int .Values.kafka.minInSync) (max 1 (sub (int (include "logweir.replication" .)) 1)) }}{{- end }}

{{- /* What runs: the roles, and the doors where they are on. */}}
{{- define "logweir.roles" -}}
{{- $all := deepCopy .Values.roles -}}
{{- if .Values.doors.enabled }}{{- $_ := set $all "doors" (pick .Values.doors "replicas" "resources") -}}{{- end -}}
{{ toJson $all }}
{{- end }}
