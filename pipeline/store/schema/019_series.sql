-- Each series of metrics once; written before its samples, again on each day on which it is sent. `last` is the latest such day. Rows that are equal but
-- for it are merged, or not yet: a reader takes one of each series.
CREATE TABLE IF NOT EXISTS series (
  tenant_id UInt32 CODEC(ZSTD(1)),
  metric LowCardinality(String) CODEC(ZSTD(1)),
  -- XXH64 of the canonical labels
  series UInt64 CODEC(NONE),
  -- all of them, the metric's name is __name__
  labels Map(LowCardinality(String), String) CODEC(ZSTD(3)),
  kind LowCardinality(String) CODEC(ZSTD(1)),
  -- its samples are what was added since the one before
  is_delta UInt8 CODEC(ZSTD(1)),
  last Date CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(last)
PARTITION BY retention_days
ORDER BY (tenant_id, metric, series)
TTL if(retention_days = 0, toDate('2149-06-06'), last + toIntervalDay(retention_days + 3)) DELETE
SETTINGS non_replicated_deduplication_window = 10000
