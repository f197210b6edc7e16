-- For the parts of before. ClickHouse does it by the way, one part after the other, also after a restart.
ALTER TABLE replay_chunks MATERIALIZE PROJECTION sessions SETTINGS mutations_sync = 0
