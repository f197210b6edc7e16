-- Entries from before get the index in the background; until then their messages are read instead.
ALTER TABLE logs MATERIALIZE INDEX i_words
