-- Each stream once for each day that it has entries of; written before the entries themselves.
CREATE TABLE IF NOT EXISTS streams (
  tenant_id UInt32,
  day Date,
  stream_id UInt64,
  _stream String CODEC(ZSTD(3)),
  labels Map(LowCardinality(String), String) CODEC(ZSTD(3)),
  retention_days UInt16
) ENGINE = ReplacingMergeTree
PARTITION BY (retention_days, if(retention_days = 0, toYear(day), toYYYYMM(day)))
ORDER BY (tenant_id, day, stream_id)
TTL if(retention_days = 0, toDate('2149-06-06'), day + toIntervalDay(retention_days + 1)) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
