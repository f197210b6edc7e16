-- How the rules of tenants over metrics stand (docs/adr/0047-rules-over-metrics.md). A state is told again after each evaluation: of rows that
-- are equal in tenant and rule a reader takes the one with the highest version. Classes and keys: as those of `measures`.
CREATE TABLE IF NOT EXISTS metric_rule_states (
  tenant_id UInt32 CODEC(ZSTD(1)),
  rule String CODEC(ZSTD(1)),
  -- the version of the rule's setting
  setting UInt64 CODEC(ZSTD(1)),
  evaluated_at DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  state String CODEC(ZSTD(3)),
  -- the offset on partials.v1 at which it was found
  version UInt64 CODEC(Delta(8), ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on metric_rule_states.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, toYYYYMMDD(evaluated_at))
PRIMARY KEY (tenant_id, rule)
ORDER BY (tenant_id, rule, version, kafka_part, kafka_off, kafka_idx)
TTL toDateTime(evaluated_at, 'UTC') + toIntervalDay(retention_days) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
