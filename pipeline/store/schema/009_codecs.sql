-- docs/adr/0010-columns-that-are-quick-to-read.md gives the reasons. Parts from before keep what they have until they are merged.
ALTER TABLE logs
  MODIFY COLUMN _time CODEC(GCD, Delta(8), T64, LZ4),
  MODIFY COLUMN arrived CODEC(T64, LZ4),
  MODIFY COLUMN kafka_part CODEC(T64, LZ4),
  MODIFY COLUMN kafka_off CODEC(T64, LZ4),
  MODIFY COLUMN kafka_idx CODEC(T64, LZ4),
  MODIFY COLUMN stream_id CODEC(LZ4),
  MODIFY COLUMN json_keys CODEC(LZ4),
  MODIFY COLUMN fields CODEC(LZ4HC(3)),
  MODIFY COLUMN _msg CODEC(LZ4HC(3)),
  MODIFY SETTING string_serialization_version = 'single_stream'
