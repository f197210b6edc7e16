-- The entries. docs/adr/0001-record-table-sort-key-partitions.md gives the reasons.
CREATE TABLE IF NOT EXISTS logs (
  tenant_id UInt32 CODEC(ZSTD(1)),
  _time DateTime64(9, 'UTC') CODEC(GCD, Delta(8), ZSTD(1)),
  -- when the request arrived: later arrivals come first among equal times
  arrived DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  -- the audit key: the record and the entry's position in it
  kafka_part UInt16 CODEC(ZSTD(1)),
  kafka_off UInt64 CODEC(Delta(8), ZSTD(1)),
  kafka_idx UInt32 CODEC(Delta(4), ZSTD(1)),
  -- the retention class of the tenant's plan at arrival; 0 keeps for ever
  retention_days UInt16 CODEC(ZSTD(1)),
  stream_id UInt64 CODEC(ZSTD(1)),
  -- 0 unknown, 1 trace, 2 debug, 3 info, 4 warn, 5 error, 6 fatal
  severity UInt8 CODEC(ZSTD(1)),
  level LowCardinality(String) CODEC(ZSTD(1)),
  service LowCardinality(String) CODEC(ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  span_id String CODEC(ZSTD(1)),
  _msg String CODEC(ZSTD(3)),
  fields Map(LowCardinality(String), String) CODEC(ZSTD(3)),
  -- names of the fields whose values are JSON numbers or booleans
  json_keys Array(LowCardinality(String)) CODEC(ZSTD(1)),
  -- the words of LogsQL: runs of letters, digits and _; nearly all messages are ASCII, where translate is six times faster than a regexp
  INDEX i_word if(length(_msg) = lengthUTF8(_msg), splitByWhitespace(translate(_msg, '!"#$%&\'()*+,-./:;<=>?@[\\]^`{|}~\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1A\x1B\x1C\x1D\x1E\x1F\x7F', '                                                           ')), extractAll(_msg, '[\\pL\\p{Nd}_]+')) TYPE text(tokenizer = array, posting_list_codec = 'bitpacking'),
  INDEX i_kv arrayConcat(mapKeys(fields), arrayMap((k, v) -> concat(k, '\0', v), mapKeys(fields), mapValues(fields))) TYPE text(tokenizer = array, posting_list_codec = 'bitpacking'),
  INDEX i_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(_time), _time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(_time), toYear(_time)))
PRIMARY KEY (tenant_id, _time)
ORDER BY (tenant_id, _time, arrived, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(_time, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000, min_bytes_for_wide_part = 33554432
