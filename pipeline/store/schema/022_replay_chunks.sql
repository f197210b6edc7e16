-- Session replay: rows of events, each row of the topic once. docs/adr/0046-session-replay.md gives the reasons for the key and the codecs, and says how
-- a reader takes a batch that was sent twice once: by session, seq and part. Classes, partitions and position: as those of `logs`.
CREATE TABLE IF NOT EXISTS replay_chunks (
  tenant_id UInt32 CODEC(ZSTD(1)),
  -- 0 events; 1 says that the session was deleted
  kind UInt8 CODEC(ZSTD(1)),
  session String CODEC(ZSTD(1)),
  -- the number of the batch in its session, or with bit 63 a hash of its events; and which part of a batch that was too long for one row
  seq UInt64 CODEC(Delta(8), ZSTD(1)),
  part UInt16 CODEC(ZSTD(1)),
  -- times of the first and of the last event
  first DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  last DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  events UInt32 CODEC(ZSTD(1)),
  -- of the events as JSON
  bytes UInt32 CODEC(ZSTD(1)),
  -- 26 bits milliseconds after `first`, 13 bits x, 13 bits y
  clicks Array(UInt64) CODEC(ZSTD(1)),
  errors UInt32 CODEC(ZSTD(1)),
  failed_requests UInt32 CODEC(ZSTD(1)),
  -- times of the first full snapshot and of the first meta event; 1970 for none
  snapshot DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  meta DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- pages that were opened, each once
  urls Array(String) CODEC(ZSTD(1)),
  user String CODEC(ZSTD(1)),
  service LowCardinality(String) CODEC(ZSTD(1)),
  version LowCardinality(String) CODEC(ZSTD(1)),
  trace_ids Array(String) CODEC(ZSTD(1)),
  -- a line for each event: milliseconds after `first`, its type, and its JSON; empty where the session was deleted
  body String CODEC(ZSTD(3)),
  retention_days UInt16 CODEC(ZSTD(1)),
  -- where the row lies on replay.v1, and when it was appended there
  arrived DateTime64(3, 'UTC') CODEC(T64, ZSTD(1)),
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(T64, ZSTD(1)),
  kafka_idx UInt32 CODEC(T64, ZSTD(1)),
  INDEX i_kind kind TYPE minmax GRANULARITY 64,
  INDEX i_off kafka_off TYPE minmax GRANULARITY 16,
  INDEX i_arrived arrived TYPE minmax GRANULARITY 16
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(first), first BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(first), toYear(first)))
PRIMARY KEY (tenant_id, session, first, seq)
ORDER BY (tenant_id, session, first, seq, part, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(first, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS index_granularity = 64, string_serialization_version = 'single_stream', ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000
