-- What senders say of metrics; `last` as that of `series`.
CREATE TABLE IF NOT EXISTS metrics (
  tenant_id UInt32 CODEC(ZSTD(1)),
  metric LowCardinality(String) CODEC(ZSTD(1)),
  kind LowCardinality(String) CODEC(ZSTD(1)),
  unit LowCardinality(String) CODEC(ZSTD(1)),
  help String CODEC(ZSTD(3)),
  last Date CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(last)
PARTITION BY retention_days
ORDER BY (tenant_id, metric, kind, unit, help)
TTL if(retention_days = 0, toDate('2149-06-06'), last + toIntervalDay(retention_days + 3)) DELETE
SETTINGS non_replicated_deduplication_window = 10000
