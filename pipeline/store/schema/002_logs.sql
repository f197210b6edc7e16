-- The entries. docs/adr/0001-record-table-sort-key-partitions.md gives the reasons for the key and the partitions, 0007 for counts and
-- promoted fields, 0013 for the price of each column, index and projection.
CREATE TABLE IF NOT EXISTS logs (
  tenant_id UInt32 CODEC(ZSTD(1)),
  _time DateTime64(9, 'UTC') CODEC(GCD, Delta(8), T64, LZ4),
  -- when the request arrived: later arrivals come first among equal times
  arrived DateTime64(3, 'UTC') CODEC(T64, LZ4),
  -- the audit key: the record and the entry's position in it
  kafka_part UInt16 CODEC(T64, LZ4),
  kafka_off UInt64 CODEC(T64, LZ4),
  kafka_idx UInt32 CODEC(T64, LZ4),
  -- the retention class of the tenant's plan at arrival; 0 keeps for ever
  retention_days UInt16 CODEC(ZSTD(1)),
  stream_id UInt64 CODEC(LZ4),
  -- 0 unknown, 1 trace, 2 debug, 3 info, 4 warn, 5 error, 6 fatal
  severity UInt8 CODEC(ZSTD(1)),
  -- the pattern of the message; 0 where none was found
  pattern UInt64 CODEC(LZ4),
  level LowCardinality(String) CODEC(ZSTD(1)),
  service LowCardinality(String) CODEC(ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  span_id String CODEC(ZSTD(1)),
  _msg String CODEC(LZ4),
  fields Map(LowCardinality(String), String) CODEC(LZ4),
  -- names of the fields whose values are JSON numbers or booleans
  json_keys Array(LowCardinality(String)) CODEC(LZ4),
  -- fields of the map that have a column too: labels that streams have by default, and HTTP's status. logsql/sql/promoted.ts names the same.
  f_app LowCardinality(String) MATERIALIZED fields['app'] CODEC(ZSTD(1)),
  f_host LowCardinality(String) MATERIALIZED fields['host'] CODEC(ZSTD(1)),
  f_env LowCardinality(String) MATERIALIZED fields['env'] CODEC(ZSTD(1)),
  f_namespace LowCardinality(String) MATERIALIZED fields['namespace'] CODEC(ZSTD(1)),
  f_pod LowCardinality(String) MATERIALIZED fields['pod'] CODEC(ZSTD(1)),
  f_container LowCardinality(String) MATERIALIZED fields['container'] CODEC(ZSTD(1)),
  f_job LowCardinality(String) MATERIALIZED fields['job'] CODEC(ZSTD(1)),
  f_status LowCardinality(String) MATERIALIZED fields['status'] CODEC(ZSTD(1)),
  -- the words of LogsQL (runs of letters, digits and _) that have no digit. Digits become 0 first, which marks the words to leave out. The
  -- regexp, whose classes of letters take two milliseconds to compile, is compiled only where a message is not plain ASCII.
  -- logsql/sql/text.ts says the same expression.
  INDEX i_words arrayFilter(w -> position(w, '0') = 0, if(length(_msg) = lengthUTF8(_msg), splitByWhitespace(translate(_msg, '123456789!"#$%&\'()*+,-./:;<=>?@[\\]^`{|}~\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1A\x1B\x1C\x1D\x1E\x1F\x7F', '000000000                                                           ')), arrayFlatten(arrayMap(m -> extractAll(replaceRegexpAll(m, '[1-9]', '0'), '[\\pL\\p{Nd}_]+'), if(length(_msg) = lengthUTF8(_msg), emptyArrayString(), [_msg]))))) TYPE text(tokenizer = array, posting_list_codec = 'bitpacking'),
  INDEX i_values mapValues(fields) TYPE bloom_filter(0.005) GRANULARITY 1,
  INDEX i_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX i_off kafka_off TYPE minmax GRANULARITY 1,
  -- Entries counted for each hour, inside each part: as exact as the part, whatever inserts, retries and merges do. logsql/planner/hourly.ts asks it.
  PROJECTION hourly (
    SELECT tenant_id, toStartOfInterval(_time, toIntervalNanosecond(3600000000000)) AS hour, stream_id, level, service,
      f_app, f_host, f_env, f_namespace, f_pod, f_container, f_job, count()
    GROUP BY tenant_id, hour, stream_id, level, service, f_app, f_host, f_env, f_namespace, f_pod, f_container, f_job
  )
) ENGINE = MergeTree
PARTITION BY (retention_days, multiIf(retention_days BETWEEN 1 AND 30, toYYYYMMDD(_time), _time BETWEEN arrived - INTERVAL 366 DAY AND arrived + INTERVAL 366 DAY, toYYYYMM(_time), toYear(_time)))
PRIMARY KEY (tenant_id, _time)
ORDER BY (tenant_id, _time, arrived, kafka_part, kafka_off, kafka_idx)
TTL if(retention_days = 0, toDateTime('2106-02-07 00:00:00', 'UTC'), toDateTime(_time, 'UTC') + toIntervalDay(retention_days)) DELETE
SETTINGS index_granularity = 1024, min_compress_block_size = 16384, string_serialization_version = 'single_stream',
  ttl_only_drop_parts = 1, lightweight_mutation_projection_mode = 'rebuild', non_replicated_deduplication_window = 10000,
  min_bytes_for_wide_part = 33554432, merge_selector_base = 10
