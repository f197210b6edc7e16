-- As 028, of what is counted of spans.
ALTER TABLE span_counts MODIFY SETTING min_compress_block_size = 16384
