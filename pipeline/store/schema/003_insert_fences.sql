-- Inserts that may not begin any more, of several ranges (docs/adr/0016-one-insert-for-several-partitions.md) or of one that was too large
-- (docs/adr/0003-exactly-once-sink.md). A fence is synced to disk before it is relied on, and outlives any process that could still send its insert.
CREATE TABLE IF NOT EXISTS insert_fences (
  id String,
  fenced_at DateTime DEFAULT now()
) ENGINE = MergeTree
ORDER BY id
TTL fenced_at + toIntervalDay(30)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
