-- What is read of spans is mostly some granules here and there, of which whole blocks are decompressed: smaller blocks, of 16 KiB or one granule, take a
-- third less of that time, and 2 % more space (docs/adr/0042-spans.md). Parts have them once they are written or merged.
ALTER TABLE spans MODIFY SETTING min_compress_block_size = 16384
