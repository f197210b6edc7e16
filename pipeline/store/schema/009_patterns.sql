-- The templates of tenants and their clusters (docs/adr/0030-patterns.md). A pattern is told again: of the rows of a tenant and fingerprint the one
-- with the highest version counts, and of those with a template the last one has its text. None is replaced in the table, which has every row of
-- the topic once, as the audit wants it. Classes and keys: as those of `logs`, by the time at which a row was told.
CREATE TABLE IF NOT EXISTS patterns (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- SHA-256 of the template, and of that of the cluster's root: hexadecimal
  fingerprint String CODEC(ZSTD(1)),
  root String CODEC(ZSTD(1)),
  -- empty where only the root is told
  template String CODEC(ZSTD(1)),
  example String CODEC(ZSTD(1)),
  severity UInt8 CODEC(ZSTD(1)),
  -- the earliest time of an entry that is known, milliseconds since 1970
  first_ms UInt64 CODEC(T64, ZSTD(1)),
  told DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- the offset on partials.v1 at which it was told
  version UInt64 CODEC(Delta(8), ZSTD(1)),
  -- what `logs` has in its column pattern
  pattern UInt64 MATERIALIZED reinterpretAsUInt64(reverse(unhex(substring(fingerprint, 1, 16)))) CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on patterns.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(told), told BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(told), toYear(told)))
PRIMARY KEY (tenant_id, pattern)
ORDER BY (tenant_id, pattern, version, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(told, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
