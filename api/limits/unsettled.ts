import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';
import type { UsageSegment } from '../../pipeline/bus/state/usage-records.ts';
import { addCount, addCounts, dayOf, type DayCounts } from '../../pipeline/core/day-counts.ts';

/** Segments of one partition; beyond that neighbours become one, and twice as many records share one from then on. */
const MAX_SEGMENTS = 256;

/** The segment of a partition, whose topic is the caller's. */
type OwnSegment = Omit<UsageSegment, 'topic'>;
type Segment = OwnSegment & { readonly records: number };
type Queue = { readonly segments: Segment[]; /** Records that share a segment. */ readonly grain: number };

/**
 * Bytes that this node had acknowledged and that are in no snapshot yet. A segment goes when a snapshot has passed all of its records,
 * never before: so what was acknowledged is counted at any time. While records share segments, up to a hundredth of
 * it may be counted twice for a moment.
 */
export class Unsettled {
  /** The sum of all segments. */
  readonly counts: DayCounts = new Map();
  readonly #queues = new Map<number, Queue>();

  /** Adds a record. Those of a partition come in the order of their offsets. */
  add({ partition, offset, timestamp, tenantId, bytes }: SentRecord): void {
    const days: DayCounts = new Map();
    addCount(days, dayOf(timestamp), tenantId, bytes);
    addCounts(this.counts, days);
    const queue = this.#queues.get(partition) ?? { segments: [], grain: 1 };
    const { segments, grain } = queue;
    const own = { partition, last: offset, days, records: 1 };
    const open = segments.at(-1);
    if (open !== undefined && open.records < grain) segments[segments.length - 1] = join(open, own);
    else segments.push(own);
    this.#queues.set(partition, segments.length > MAX_SEGMENTS ? { segments: joinPairs(segments), grain: 2 * grain } : queue);
  }

  /** Drops what a snapshot of the partition up to `next` has. */
  settle(partition: number, next: number): void {
    const { segments } = this.#queues.get(partition) ?? { segments: [] };
    const open = segments.findIndex(({ last }) => last >= next);
    for (const { days } of segments.splice(0, open < 0 ? segments.length : open)) addCounts(this.counts, days, -1);
    if (segments.length === 0) this.#queues.delete(partition);
  }

  /** One segment for each partition. */
  joined(): OwnSegment[] {
    return [...this.#queues].map(([partition, { segments }]) => {
      const days: DayCounts = new Map();
      for (const segment of segments) addCounts(days, segment.days);
      return { partition, last: segments.at(-1)?.last ?? 0, days };
    });
  }
}

/** Makes one segment of two neighbours. */
function join(first: Segment, second: Segment): Segment {
  const days: DayCounts = new Map();
  addCounts(days, first.days);
  addCounts(days, second.days);
  return { ...second, days, records: first.records + second.records };
}

function joinPairs(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const [index, segment] of segments.entries()) {
    const before = joined.at(-1);
    if (index % 2 === 1 && before !== undefined) joined[joined.length - 1] = join(before, segment);
    else joined.push(segment);
  }
  return joined;
}
