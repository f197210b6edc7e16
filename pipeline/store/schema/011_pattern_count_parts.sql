-- Which of the records of its segment a row lies in: a segment may be there twice, and of each part of it a reader takes the record with the lowest
-- offset, which is found sooner than the equal rows of several.
ALTER TABLE pattern_counts ADD COLUMN IF NOT EXISTS part UInt16 CODEC(ZSTD(1)) AFTER run
