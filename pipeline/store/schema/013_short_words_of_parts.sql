-- For the parts of before. ClickHouse does it by the way; until then their messages are read.
ALTER TABLE logs MATERIALIZE INDEX i_short_words SETTINGS mutations_sync = 0
