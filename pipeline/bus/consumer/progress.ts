import type { Logger } from 'pino';
import { decodeMetadata, type Progress } from '../reading/commit-metadata.ts';
import { boundsOf, committedBy, firstSince, type Commitment, type OffsetQueries } from '../reading/group-positions.ts';

export type ProgressOptions = {
  readonly admin: OffsetQueries;
  readonly log: Logger;
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  /** What this process committed last, if anything. */
  readonly last: Commitment | undefined;
  /** Where the log ended, as the leader reported with its records: an end before it is that of another broker, which was cut off. */
  readonly atLeast?: number;
  /** Called while it is waited for. */
  readonly onWait?: () => Promise<void>;
  /** How long an end of the log that lies before what is committed is taken for one that is not reported yet. Milliseconds. */
  readonly settleMs?: number;
};

/** kafkajs commits this, without metadata, after the error that an offset is out of range. */
const EARLIEST = -2;
/** A new leader may not know for a moment how far its log is replicated; less than the group's session. Milliseconds. */
const SETTLE_MS = 3000;
const QUERY_EVERY_MS = 500;

/**
 * Where the group stands in a partition, and what its last owner left behind. What is committed may be more than the log has, since
 * machines lost their power before they wrote it to their disks: then the offsets behind its end are given to other records. Throws where
 * Kafka does not answer, or answers the impossible: it is then to be queried again, on another broker.
 */
export async function readProgress(options: ProgressOptions): Promise<Progress> {
  const { admin, groupId, topic, partition, last } = options;
  const found = (await committedBy(admin, groupId, topic)).get(partition) ?? { offset: -1, metadata: '' };
  const known = found.offset === EARLIEST && last !== undefined ? last : found;
  const progress = decodeMetadata(Math.max(0, known.offset), known.metadata);
  return progress.from === 0 && progress.intent === null ? progress : withinLog(progress, options);
}

/** The progress, or, where the log has other records than those that were stored, the one that begins with them. */
async function withinLog(progress: Progress, options: ProgressOptions): Promise<Progress> {
  const { log, topic, partition, atLeast = 0, settleMs = SETTLE_MS } = options;
  const next = (progress.intent?.end ?? progress.from - 1) + 1;
  const deadline = performance.now() + settleMs;
  for (;;) {
    const { end, other } = await endsOf(progress.appendedBy, options);
    if (other >= next) return progress;
    const isOver = performance.now() >= deadline;
    if (end < atLeast && isOver)
      throw new Error(`Kafka reports that partition ${String(partition)} ends at ${String(end)}, after it had sent records beyond that.`);
    // with records behind it, it is not an end that is yet to be reported
    if (end >= atLeast && (other < end || isOver)) {
      log.error(
        { topic, partition, known: next, end: other },
        'Log truncation: the log ends before the stored offset, as after a power failure. Records behind its end are compared with stored rows.',
      );
      return {
        from: Math.min(progress.from, other),
        intent: null,
        dead: new Set([...progress.dead].filter((at) => at < other)),
        appendedBy: progress.appendedBy,
        inDoubtTo: Math.max(progress.inDoubtTo, next - 1),
        insert: progress.insert,
      };
    }
    await new Promise((resolve) => setTimeout(resolve, QUERY_EVERY_MS));
    await options.onWait?.();
  }
}

/** Where the log ends, and where the records begin that were appended after `appendedBy`. */
async function endsOf(
  appendedBy: number | null,
  { admin, topic, partition }: ProgressOptions,
): Promise<{ readonly end: number; readonly other: number }> {
  const known = (offset: number | undefined): number => {
    if (offset === undefined) throw new Error(`Kafka did not report the end offset of partition ${String(partition)}.`);
    return offset;
  };
  const other = appendedBy === null ? Infinity : known((await firstSince(admin, topic, appendedBy + 1)).get(partition));
  const end = known((await boundsOf(admin, topic)).get(partition)?.end);
  return { end, other: Math.min(end, other) };
}
