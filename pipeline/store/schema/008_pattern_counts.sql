-- How often patterns came, by stream, severity and span of time, in rows of segments of the log's partitions (docs/adr/0030-patterns.md). Of rows
-- that are equal in all but their numbers a reader takes any one, and adds up the rest: those of an hour, and those of minutes in segments behind
-- the last one of hours. Classes and keys: as those of `logs`.
CREATE TABLE IF NOT EXISTS pattern_counts (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- 0 counts one stream; 1 counts all streams together, with the stream 0; 2 says that all of the tenant's rows of a segment are there
  scope UInt8 CODEC(ZSTD(1)),
  -- seconds that a row counts: 60 or 3600
  span UInt32 CODEC(ZSTD(1)),
  -- when they begin, by the time of the entries
  time DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- as in `logs`
  pattern UInt64 CODEC(ZSTD(1)),
  stream_id UInt64 CODEC(ZSTD(1)),
  severity UInt8 CODEC(ZSTD(1)),
  -- the segment: of which partition of logs.v1, from which record on, and up to the one before `until`; the run: as in `volume`
  log_part UInt16 CODEC(ZSTD(1)),
  segment UInt64 CODEC(ZSTD(1)),
  until UInt64 CODEC(ZSTD(1)),
  run UInt64 CODEC(ZSTD(1)),
  entries UInt64 CODEC(T64, ZSTD(1)),
  -- the times of the earliest and the latest entry, milliseconds since 1970
  first_ms UInt64 CODEC(T64, ZSTD(1)),
  last_ms UInt64 CODEC(T64, ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on pattern_counts.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(time), time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(time), toYear(time)))
PRIMARY KEY (tenant_id, scope, span, time)
ORDER BY (tenant_id, scope, span, time, pattern, stream_id, severity, log_part, segment, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalSecond(span) + toIntervalDay(retention_days)) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
