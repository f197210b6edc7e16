-- Promoted fields of short values. A part has one dictionary of each for all tenants, which a condition on it reads whole: a value of more than
-- 256 bytes lies in l_…, which is nearly always empty, and so stored sparse. Then f_… has 257 bytes, which no short value is (and which is not
-- empty: the field is there). logsql/sql/promoted.ts reads both. Parts of before have long values in f_…, and l_… is worked out of the map as it
-- is read: all queries are right over them, too. The counts get another name, since a projection that has one is not built anew.
ALTER TABLE logs
  ADD COLUMN IF NOT EXISTS l_app String MATERIALIZED if(length(fields['app']) > 256, fields['app'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_host String MATERIALIZED if(length(fields['host']) > 256, fields['host'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_env String MATERIALIZED if(length(fields['env']) > 256, fields['env'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_namespace String MATERIALIZED if(length(fields['namespace']) > 256, fields['namespace'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_pod String MATERIALIZED if(length(fields['pod']) > 256, fields['pod'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_container String MATERIALIZED if(length(fields['container']) > 256, fields['container'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_job String MATERIALIZED if(length(fields['job']) > 256, fields['job'], '') CODEC(LZ4),
  ADD COLUMN IF NOT EXISTS l_status String MATERIALIZED if(length(fields['status']) > 256, fields['status'], '') CODEC(LZ4),
  MODIFY COLUMN f_app LowCardinality(String) MATERIALIZED if(length(fields['app']) > 256, repeat('~', 257), fields['app']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_host LowCardinality(String) MATERIALIZED if(length(fields['host']) > 256, repeat('~', 257), fields['host']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_env LowCardinality(String) MATERIALIZED if(length(fields['env']) > 256, repeat('~', 257), fields['env']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_namespace LowCardinality(String) MATERIALIZED if(length(fields['namespace']) > 256, repeat('~', 257), fields['namespace']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_pod LowCardinality(String) MATERIALIZED if(length(fields['pod']) > 256, repeat('~', 257), fields['pod']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_container LowCardinality(String) MATERIALIZED if(length(fields['container']) > 256, repeat('~', 257), fields['container']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_job LowCardinality(String) MATERIALIZED if(length(fields['job']) > 256, repeat('~', 257), fields['job']) CODEC(ZSTD(1)),
  MODIFY COLUMN f_status LowCardinality(String) MATERIALIZED if(length(fields['status']) > 256, repeat('~', 257), fields['status']) CODEC(ZSTD(1)),
  DROP PROJECTION IF EXISTS hourly,
  ADD PROJECTION IF NOT EXISTS hours (
    SELECT tenant_id, toStartOfInterval(_time, toIntervalNanosecond(3600000000000)) AS hour, stream_id, level, service,
      f_app, f_host, f_env, f_namespace, f_pod, f_container, f_job, count()
    GROUP BY tenant_id, hour, stream_id, level, service, f_app, f_host, f_env, f_namespace, f_pod, f_container, f_job
  )
SETTINGS alter_sync = 0
