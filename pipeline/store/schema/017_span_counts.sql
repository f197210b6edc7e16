-- Operations and edges of `spans`, by spans of time, in rows of segments of the topic's partitions (docs/adr/0043-derived-from-spans.md). Of rows that
-- are equal in all but where they lie a reader takes any one, and adds up the rest: those of a day, those of hours in segments behind the last one
-- of days, those of minutes behind the last one of hours. Classes and keys: as those of `logs`.
CREATE TABLE IF NOT EXISTS span_counts (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- 0 counts an operation, that is a service, a name and a kind; 1 calls of a service by another one, an empty one where it was not found in time; 2
  -- spans that were not looked at for calls; 3 says that all of the tenant's rows of a segment are there
  scope UInt8 CODEC(ZSTD(1)),
  -- seconds that a row counts: 60, 3600 or 86400
  span UInt32 CODEC(ZSTD(1)),
  -- when they begin, by the time at which spans begin
  time DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  service LowCardinality(String) CODEC(ZSTD(1)),
  operation LowCardinality(String) CODEC(ZSTD(1)),
  caller LowCardinality(String) CODEC(ZSTD(1)),
  kind UInt8 CODEC(ZSTD(1)),
  -- the segment: of which partition of spans.v1, from which record on, and up to the one before `until`; the run: as in `volume`
  log_part UInt16 CODEC(ZSTD(1)),
  segment UInt64 CODEC(ZSTD(1)),
  until UInt64 CODEC(ZSTD(1)),
  run UInt64 CODEC(ZSTD(1)),
  spans UInt64 CODEC(T64, ZSTD(1)),
  errors UInt64 CODEC(T64, ZSTD(1)),
  -- nanoseconds of all of them
  duration Float64 CODEC(ZSTD(1)),
  -- when the last one begins
  last DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- how many have a duration, by its bin: n counts those above 2^((n-2)/8) nanoseconds and not above 2^((n-1)/8), 0 those of 0
  durations Map(UInt16, UInt64) CODEC(ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on span_counts.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(time), time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(time), toYear(time)))
PRIMARY KEY (tenant_id, scope, span, service, time)
ORDER BY (tenant_id, scope, span, service, time, operation, caller, kind, log_part, segment, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalSecond(span) + toIntervalDay(retention_days)) DELETE
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
