-- Spans, each row of the topic once. docs/adr/0042-spans.md gives the reasons for the key, the projection and the codecs, and says how a reader
-- takes a span that was sent twice once: by trace_id, span_id and kind. Classes, partitions and position: as those of `logs`.
CREATE TABLE IF NOT EXISTS spans (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- when it begins, and nanoseconds until its end
  time DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
  duration UInt64 CODEC(T64, ZSTD(1)),
  trace_id FixedString(16) CODEC(ZSTD(1)),
  span_id FixedString(8) CODEC(NONE),
  -- zeros for none
  parent_span_id FixedString(8) CODEC(ZSTD(1)),
  service LowCardinality(String) CODEC(ZSTD(1)),
  name LowCardinality(String) CODEC(ZSTD(1)),
  -- 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer
  kind UInt8 CODEC(ZSTD(1)),
  -- 0 unset, 1 ok, 2 error
  status UInt8 CODEC(ZSTD(1)),
  status_message String CODEC(ZSTD(1)),
  trace_state String CODEC(ZSTD(1)),
  flags UInt32 CODEC(ZSTD(1)),
  scope LowCardinality(String) CODEC(ZSTD(1)),
  scope_version LowCardinality(String) CODEC(ZSTD(1)),
  -- what resources and scopes seldom have, as a JSON object; empty for nothing
  context LowCardinality(String) CODEC(ZSTD(1)),
  -- attributes of the resource: a JSON object of strings; empty for none
  resource LowCardinality(String) CODEC(ZSTD(1)),
  -- the same where it has more than 4,096 bytes: dictionaries are read by all tenants that have spans in the part
  long_resource String CODEC(ZSTD(1)),
  -- a character for each attribute, in their order: s string, b boolean, i int, d double, y bytes in base64, v plain JSON, o OTLP's JSON, n none
  resource_types LowCardinality(String) CODEC(ZSTD(1)),
  attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  attribute_types LowCardinality(String) CODEC(ZSTD(1)),
  -- arrays as OTLP writes them in JSON; empty for none
  events String CODEC(ZSTD(1)),
  links String CODEC(ZSTD(1)),
  dropped_attributes UInt32 CODEC(ZSTD(1)),
  dropped_events UInt32 CODEC(ZSTD(1)),
  dropped_links UInt32 CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on spans.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(T64, ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX i_values mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1,
  -- Of each trace: when its spans begin, first and last; when the last ends; its services; rows, and those with an error; service and name of
  -- the span without a parent. A span that was sent twice is counted twice here.
  PROJECTION traces (
    SELECT tenant_id, trace_id, min(time), max(time), max(addNanoseconds(time, duration)), groupUniqArray(service), count(),
      countIf(status = 2), argMinIf((service, name), time, parent_span_id = toFixedString('', 8))
    GROUP BY tenant_id, trace_id
  )
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(time), time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(time), toYear(time)))
PRIMARY KEY (tenant_id, service, time)
ORDER BY (tenant_id, service, time, trace_id, span_id, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS index_granularity = 2048, string_serialization_version = 'single_stream', ttl_only_drop_parts = 1,
  lightweight_mutation_projection_mode = 'rebuild', non_replicated_deduplication_window = 10000
