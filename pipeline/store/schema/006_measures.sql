-- What mergers measure of tenants, by name, labels and span of time (docs/adr/0024-what-spans-partitions.md). A measure is told again as it
-- changes: of rows that are equal in tenant, name, labels, span and time a reader takes the one with the highest version. None is replaced in
-- the table, which has every row of the topic once, as the audit wants it. Classes and keys: as those of `logs`.
CREATE TABLE IF NOT EXISTS measures (
  tenant_id UInt32 CODEC(ZSTD(1)),
  name LowCardinality(String) CODEC(ZSTD(1)),
  -- by name
  labels Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  -- seconds that a row measures, and when they begin
  span UInt32 CODEC(ZSTD(1)),
  time DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  value Float64 CODEC(ZSTD(1)),
  -- the offset on partials.v1 at which it was found
  version UInt64 CODEC(Delta(8), ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on measures.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(time), time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(time), toYear(time)))
PRIMARY KEY (tenant_id, name, time)
ORDER BY (tenant_id, name, time, span, version, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalSecond(span) + toIntervalDay(retention_days)) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
