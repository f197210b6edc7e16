-- What detectors have found (docs/adr/0026-alerts.md). An alert is told again, whole, whenever it changes: of the rows of a tenant, id and part a
-- reader takes the one with the highest version. None is replaced in the table, which has every row of the topic once, as the audit wants it.
-- Classes and keys: as those of `logs`.
CREATE TABLE IF NOT EXISTS alerts (
  tenant_id UInt32 CODEC(ZSTD(1)),
  id UInt64 CODEC(ZSTD(1)),
  -- 0 tells the alert; 1 tells what has changed about it, as evidence, and nothing else
  part UInt8 CODEC(ZSTD(1)),
  -- the offset on partials.v1 at which it was told
  version UInt64 CODEC(Delta(8), ZSTD(1)),
  fired_at DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  updated_at DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- 1970 while it fires
  resolved_at DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  detector LowCardinality(String) CODEC(ZSTD(1)),
  stream String CODEC(ZSTD(1)),
  -- by which it is found and grouped; empty for none
  service String CODEC(ZSTD(1)),
  severity LowCardinality(String) CODEC(ZSTD(1)),
  state LowCardinality(String) CODEC(ZSTD(1)),
  title String CODEC(ZSTD(1)),
  description String CODEC(ZSTD(1)),
  -- a JSON object
  evidence String CODEC(ZSTD(1)),
  -- in how many windows it has fired
  fire_count UInt32 CODEC(ZSTD(1)),
  note String CODEC(ZSTD(1)),
  -- 0 for none
  incident_id UInt64 CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on alerts.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(fired_at), fired_at BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(fired_at), toYear(fired_at)))
PRIMARY KEY (tenant_id, fired_at, id)
ORDER BY (tenant_id, fired_at, id, part, version, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(fired_at, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
