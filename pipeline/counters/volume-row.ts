/** Whose entries a row counts: those of all streams of its tenant, or of one; or of all, in a segment that has too many of its streams to count each. */
export const SCOPE_ALL = 0;
export const SCOPE_STREAM = 1;
export const SCOPE_ALL_ALONE = 2;
/** No entries, but that all before `until` is counted: `time` is when, by append time; `entries` is the record at which its run begins. */
export const SCOPE_SEGMENT = 3;
/**
 * No entries, but that a segment does not count those of a tenant, which has too many levels or spans of time: `streamId` is its id, `time` the
 * last span in which it has entries, `entries` how many seconds before that the first one begins, and the class that which keeps longest.
 */
export const SCOPE_UNPUBLISHED = 4;

/** The part of a partition of the log that rows count, and by which span of time they count it (docs/adr/0023-one-reader-for-every-processor.md). */
export type SegmentKey = {
  /** Of `logs.v1`. */
  readonly partition: number;
  /** Length of what a row counts, seconds. */
  readonly span: number;
  /** The offset of its first record, and the one behind its last. */
  readonly segment: number;
  readonly until: number;
  /**
   * Identifies rows that were counted without a gap between them: when the first record behind the gap was appended, milliseconds; 0
   * where all of the partition was counted.
   */
  readonly run: number;
};

/** The entries of a segment by tenant, class, level and span of time, and by stream where `scope` has it; tenant 0: about the segment. */
export type VolumeRow = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  readonly scope: typeof SCOPE_ALL | typeof SCOPE_STREAM | typeof SCOPE_ALL_ALONE | typeof SCOPE_SEGMENT | typeof SCOPE_UNPUBLISHED;
  /** When the span of time begins, seconds since 1970. */
  readonly time: number;
  /** 0 where all streams are counted. */
  readonly streamId: bigint;
  /** As the producer sent it. */
  readonly level: Buffer;
  readonly entries: number;
  readonly bytes: number;
};
