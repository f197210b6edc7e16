-- Samples of metrics, each row of the topic once. docs/adr/0045-samples.md gives the reasons for the key and the codecs, and says how a reader takes
-- a sample that came twice once. Classes, partitions and position: as those of `logs`.
CREATE TABLE IF NOT EXISTS samples (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- 0 number, 1 native histogram, 2 exemplar, 3 what is known of a metric
  type UInt8 CODEC(ZSTD(1)),
  -- that of `series`
  series UInt64 CODEC(ZSTD(1)),
  time DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- since when it counts; 1970: not known
  start DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- every bit of it counts: NaN 0x7ff0000000000002 marks the end of a series. Of a histogram its sum
  value Float64 CODEC(Delta(8), ZSTD(1)),
  -- of a histogram its buckets, of an exemplar its labels
  payload String CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on samples.v1, and when it was appended there, milliseconds: few different ones, each of many rows, so that a dictionary is a
  -- quarter of what differences take
  arrived_ms LowCardinality(Int64) CODEC(ZSTD(1)),
  arrived DateTime64(3, 'UTC') ALIAS fromUnixTimestamp64Milli(toInt64(arrived_ms), 'UTC'),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off LowCardinality(UInt64) CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(Delta(4), ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived toUnixTimestamp64Milli(fromUnixTimestamp64Milli(toInt64(arrived_ms), 'UTC')) TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(time), toUnixTimestamp64Milli(time) BETWEEN toInt64(arrived_ms) - 31622400000 AND toInt64(arrived_ms) + 31622400000, toYYYYMM(time), toYear(time)))
PRIMARY KEY (tenant_id, type, series, time)
ORDER BY (tenant_id, type, series, time, arrived_ms, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS allow_suspicious_low_cardinality_types = 1, string_serialization_version = 'single_stream', ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
