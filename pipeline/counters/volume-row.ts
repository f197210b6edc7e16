/** Whose entries a row counts: those of all streams of its tenant, or of one; or of all, in a segment that has too many streams to count each. */
export const SCOPE_ALL = 0;
export const SCOPE_STREAM = 1;
export const SCOPE_ALL_ALONE = 2;

/** The part of a partition of the log that rows count, and by which span of time they count it (docs/adr/0023-one-reader-for-every-processor.md). */
export type SegmentKey = {
  /** Of `logs.v1`. */
  readonly partition: number;
  /** Length of what a row counts, seconds. */
  readonly span: number;
  /** The offset of its first record, and the one behind its last. */
  readonly segment: number;
  readonly until: number;
};

/** How many entries a segment has of a tenant, class, level and span of time, and of a stream where the scope says so. */
export type VolumeRow = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  readonly scope: typeof SCOPE_ALL | typeof SCOPE_STREAM | typeof SCOPE_ALL_ALONE;
  /** When the span of time begins, seconds since 1970. */
  readonly time: number;
  /** The halves of the stream's id; 0 where all streams are counted. */
  readonly streamHigh: number;
  readonly streamLow: number;
  /** As the producer sent it. */
  readonly level: Buffer;
  readonly entries: number;
  readonly bytes: number;
};
