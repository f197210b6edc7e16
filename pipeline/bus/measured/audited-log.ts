import type { Kafka } from 'kafkajs';
import { queryOnce } from '../connection/admin-connection.ts';
import { boundsOf, committedBy, firstSince } from '../reading/group-positions.ts';
import { readRecord } from '../records/record.ts';
import type { SignalRecord } from '../records/signal-record.ts';
import type { Signal } from '../records/signal.ts';
import { readSpans, type Span } from '../reading/span-reader.ts';

/** How long where the topic stands may be waited for. Milliseconds. */
const DEADLINE_MS = 60_000;
const NONE: ReadonlyMap<number, number> = new Map();

/** Where a partition stands, in offsets; a span of time is cut to what Kafka still has. */
export type AuditedPosition = {
  readonly partition: number;
  /** The first record that Kafka still has, and the one that comes next. */
  readonly low: number;
  readonly end: number;
  /** What the group consumes next; -1 where it has consumed nothing. */
  readonly committed: number;
  /** The first record of the span of time, and the first after it. */
  readonly from: number;
  readonly to: number;
};

/** A topic as an audit looks at it. */
export type AuditedLog = {
  /** `from` and `to` are append times in milliseconds, `to` exclusive; null: as far as there is anything. */
  positions(from: number | null, to: number | null): Promise<AuditedPosition[]>;
  /** Reads these offsets, each partition in order. A record that cannot be read has a fault. */
  read(spans: ReadonlyMap<number, Span>, take: (partition: number, records: readonly SignalRecord[]) => Promise<void>): Promise<void>;
};

/** The topic of a signal on Kafka, which `groupId` stores. */
export function auditedLog(kafka: Kafka, signal: Signal, groupId: string): AuditedLog {
  const topic = signal.topic.name;
  return {
    positions: (from, to) => positionsOf(kafka, topic, groupId, from, to),
    read: (spans, take) =>
      readSpans({
        kafka,
        topic,
        spans,
        groupPrefix: 'audit',
        take: (partition, messages) =>
          take(
            partition,
            messages.map((message) => readRecord(signal, partition, message)),
          ),
      }),
  };
}

const positionsOf = (kafka: Kafka, topic: string, groupId: string, from: number | null, to: number | null): Promise<AuditedPosition[]> =>
  queryOnce(kafka, DEADLINE_MS, async (admin) => {
    // the group first: what it has committed is in the log
    const committed = await committedBy(admin, groupId, topic);
    const first = from === null ? NONE : await firstSince(admin, topic, from);
    const after = to === null ? NONE : await firstSince(admin, topic, to);
    return [...(await boundsOf(admin, topic))]
      .map(([partition, { low, end }]) => ({
        partition,
        low,
        end,
        committed: committed.get(partition)?.offset ?? -1,
        from: Math.max(low, first.get(partition) ?? 0),
        to: Math.min(end, after.get(partition) ?? end),
      }))
      .sort((a, b) => a.partition - b.partition);
  });
