-- From a pattern to its entries. Parts of before have the index once they are merged.
ALTER TABLE logs ADD INDEX IF NOT EXISTS i_pattern pattern TYPE bloom_filter(0.01) GRANULARITY 1
