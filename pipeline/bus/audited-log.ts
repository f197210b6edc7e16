import type { Kafka, SeekEntry } from 'kafkajs';
import { readRecord, type SignalRecord } from './record.ts';
import type { Signal } from './signal.ts';
import { readSpans, type Span } from './span-reader.ts';

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

async function positionsOf(
  kafka: Kafka,
  topic: string,
  groupId: string,
  from: number | null,
  to: number | null,
): Promise<AuditedPosition[]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    // the group first: what it has committed is in the log
    const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const since = from === null ? [] : await admin.fetchTopicOffsetsByTimestamp(topic, from);
    const until = to === null ? [] : await admin.fetchTopicOffsetsByTimestamp(topic, to);
    const committed = offsetsOf(group?.partitions ?? []);
    const [first, after] = [offsetsOf(since), offsetsOf(until)];
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets
      .map(({ partition, low, high }) => ({
        partition,
        low: Number(low),
        end: Number(high),
        committed: committed.get(partition) ?? -1,
        from: Math.max(Number(low), first.get(partition) ?? 0),
        to: Math.min(Number(high), after.get(partition) ?? Number(high)),
      }))
      .sort((a, b) => a.partition - b.partition);
  } finally {
    await admin.disconnect();
  }
}

const offsetsOf = (list: readonly SeekEntry[]): Map<number, number> =>
  new Map(list.map(({ partition, offset }) => [partition, Number(offset)]));
