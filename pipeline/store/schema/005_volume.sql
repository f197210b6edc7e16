-- How many entries and bytes `logs` has, by spans of time, in rows of segments of the log's partitions (docs/adr/0023-one-reader-for-every-processor.md).
-- For a moment a partition may have two owners, who both write the rows of a segment: of those that are equal in tenant, scope, span, time,
-- stream, level, class, log_part and segment a reader takes any one, and adds up the rest. Classes and keys: as those of `logs`.
CREATE TABLE IF NOT EXISTS volume (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- 0 counts all streams together, with the stream 0; 1 counts one stream; 2 counts as 0 does, in a segment that has no rows of this tenant's
  -- single streams; 3, of the tenant 0, says that a segment was closed: when (time, by append time), and the first record of its run (entries);
  -- 4, of the tenant 0, says that a segment does not count a tenant (stream_id), which has too many levels or spans of time: the last span in
  -- which it has entries (time), and how many seconds before that the first one begins (entries)
  scope UInt8 CODEC(ZSTD(1)),
  -- seconds that a row counts: 60, 3600 or 86400
  span UInt32 CODEC(ZSTD(1)),
  -- when they begin, by the time of the entries
  time DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1)),
  stream_id UInt64 CODEC(ZSTD(1)),
  level LowCardinality(String) CODEC(ZSTD(1)),
  -- the segment: of which partition of logs.v1, from which record on, and up to the one before `until`
  log_part UInt16 CODEC(ZSTD(1)),
  segment UInt64 CODEC(ZSTD(1)),
  until UInt64 CODEC(ZSTD(1)),
  -- which counting without a gap it is of: the append time of its first record, milliseconds; 0 where it began with the partition. Of rows of
  -- a partition only those of the latest run may be added up.
  run UInt64 CODEC(ZSTD(1)),
  entries UInt64 CODEC(T64, ZSTD(1)),
  -- of message, level, service, trace and span ids, and names and values of fields
  bytes UInt64 CODEC(T64, ZSTD(1)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on counters.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(time), time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(time), toYear(time)))
PRIMARY KEY (tenant_id, scope, span, time)
ORDER BY (tenant_id, scope, span, time, stream_id, level, log_part, segment, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(time, 'UTC') + toIntervalSecond(span) + toIntervalDay(retention_days)) DELETE
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
