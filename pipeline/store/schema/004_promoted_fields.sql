-- Fields of the map that have a column too: labels that streams have by default, and HTTP's status. logsql/sql/promoted.ts names the same.
ALTER TABLE logs
  ADD COLUMN IF NOT EXISTS f_app LowCardinality(String) MATERIALIZED fields['app'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_host LowCardinality(String) MATERIALIZED fields['host'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_env LowCardinality(String) MATERIALIZED fields['env'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_namespace LowCardinality(String) MATERIALIZED fields['namespace'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_pod LowCardinality(String) MATERIALIZED fields['pod'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_container LowCardinality(String) MATERIALIZED fields['container'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_job LowCardinality(String) MATERIALIZED fields['job'] CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS f_status LowCardinality(String) MATERIALIZED fields['status'] CODEC(ZSTD(1))
