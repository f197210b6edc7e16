-- The labels of series: which values a label has, and of which metrics. `last` as that of `series`.
CREATE TABLE IF NOT EXISTS series_labels (
  tenant_id UInt32 CODEC(ZSTD(1)),
  label LowCardinality(String) CODEC(ZSTD(1)),
  value String CODEC(ZSTD(3)),
  metric LowCardinality(String) CODEC(ZSTD(1)),
  last Date CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(last)
PARTITION BY retention_days
ORDER BY (tenant_id, label, value, metric)
TTL if(retention_days = 0, toDate('2149-06-06'), last + toIntervalDay(retention_days + 3)) DELETE
SETTINGS non_replicated_deduplication_window = 10000
