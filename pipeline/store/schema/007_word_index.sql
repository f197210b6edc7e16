-- docs/adr/0009-latency-of-a-query.md gives the reasons. The same words as i_word has; the regexp, whose classes of letters take two
-- milliseconds to compile, is compiled only where a message is not plain ASCII.
ALTER TABLE logs
  DROP INDEX IF EXISTS i_word,
  ADD INDEX IF NOT EXISTS i_words if(length(_msg) = lengthUTF8(_msg), splitByWhitespace(translate(_msg, '!"#$%&\'()*+,-./:;<=>?@[\\]^`{|}~\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1A\x1B\x1C\x1D\x1E\x1F\x7F', '                                                           ')), arrayFlatten(arrayMap(m -> extractAll(m, '[\\pL\\p{Nd}_]+'), if(length(_msg) = lengthUTF8(_msg), emptyArrayString(), [_msg])))) TYPE text(tokenizer = array, posting_list_codec = 'bitpacking')
