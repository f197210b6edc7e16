-- What is read back of a range lies between two append times (sinks/stored-rows.ts). Where partitions of the log have offsets far apart, i_off
-- tells little: a granule with rows of several partitions spans all offsets between them. Parts of before have the index once they are merged.
ALTER TABLE logs ADD INDEX IF NOT EXISTS i_arrived arrived TYPE minmax GRANULARITY 1
