/** Entries counted by what became of them. */
export type AuditCounts = {
  readonly records: number;
  readonly entries: number;
  readonly lost: number;
  /** Copies beyond the first. */
  readonly doubled: number;
  /** Rows for which Kafka has no entry. */
  readonly stray: number;
  readonly aged_out: number;
  readonly dead_lettered: number;
};

/** `hour` is the beginning of an hour of Kafka's append time, UTC. */
export type AuditedHour = AuditCounts & { readonly partition: number; readonly hour: string };

/** What an operator must look at. */
export const AUDIT_FAULTS = ['lost', 'doubled', 'stray'] as const;

/**
 * Faults of one kind in one partition and hour: the number of entries and of records, and the offsets of those (`12`, `15-18`).
 * `expired`: records that Kafka deleted before they were stored. How many entries they had is unknown; the hour is that of the finding.
 */
export type AuditFinding = {
  readonly kind: (typeof AUDIT_FAULTS)[number] | 'expired';
  readonly partition: number;
  readonly hour: string;
  readonly entries: number;
  readonly records: number;
  readonly offsets: readonly string[];
};

/** A partition, in offsets: what was compared (`first` up to `next`), and what was not. */
export type AuditedPartition = {
  readonly partition: number;
  readonly first: number;
  readonly next: number;
  /** Records that are not committed yet: their entries may or may not be stored. */
  readonly pending_records: number;
  /** Records before `first` that Kafka's retention has removed: only doubled entries are looked for in them. */
  readonly removed_records: number;
};

/** An operation, or calls of a service by another one, in a minute of which something else is counted than what is stored. */
export type RecountFinding = {
  readonly kind: 'operation' | 'edge';
  readonly tenant: number;
  readonly partition: number;
  readonly minute: string;
  /** Of an edge the one that is called. */
  readonly service: string;
  /** The operation, or the caller. */
  readonly other: string;
  readonly span_kind: number;
  readonly counted: number;
  readonly stored: number;
  readonly counted_errors: number;
  readonly stored_errors: number;
};

/** The result of an audit of a topic; `logweir audit --json` prints it, with the topic. */
export type AuditReport = AuditCounts & {
  readonly partitions: readonly AuditedPartition[];
  readonly findings: readonly AuditFinding[];
  readonly hours: readonly AuditedHour[];
  /** Of a topic with counts of another one: where they differ from a recount. */
  readonly recounted?: readonly RecountFinding[];
};
