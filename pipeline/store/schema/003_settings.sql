-- docs/adr/0007-hourly-counts-and-promoted-fields.md gives the reasons.
-- Smaller blocks: a search decompresses less for each entry that it finds. Deletes build the projections of the parts they touch anew.
ALTER TABLE logs MODIFY SETTING min_compress_block_size = 16384, lightweight_mutation_projection_mode = 'rebuild'
