import { pino } from 'pino';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import { HostedPartition, type Snapshot, type States } from '../../pipeline/processors/host/hosted-partition.ts';
import type { Fold, Input } from '../../pipeline/processors/base/processor.ts';
import { WriteQueue } from '../../pipeline/processors/host/write-queue.ts';

/** Snapshots in memory, which survive their owners: the furthest one of each partition counts. */
export class FakeStates implements States {
  readonly snapshots = new Map<number, Snapshot>();

  load(partitions: readonly number[]): Promise<ReadonlyMap<number, Snapshot>> {
    return Promise.resolve(new Map([...this.snapshots].filter(([partition]) => partitions.includes(partition))));
  }

  save(partition: number, next: number, bytes: Buffer): Promise<void> {
    if (next >= (this.snapshots.get(partition)?.next ?? 0)) this.snapshots.set(partition, { next, bytes });
    return Promise.resolve();
  }
}

/** The log in memory: what processors see of each partition's records, by offset. */
export class FakeInputs {
  readonly partitions: Input[][];

  constructor(partitions: number) {
    this.partitions = Array.from({ length: partitions }, () => []);
  }

  /** Appends a record and gives its offset. */
  append(partition: number, make: (partition: number, offset: number) => Input): number {
    const inputs = this.partitions[partition] ?? [];
    return inputs.push(make(partition, inputs.length)) - 1;
  }
}

/** A host of one processor that reads when it is told to, and writes as the real one does. */
export class FakeHost {
  readonly #log: FakeInputs;
  readonly #partitions = new Map<number, { readonly hosted: HostedPartition; readonly writes: WriteQueue }>();
  readonly #timer: NodeJS.Timeout;
  /** A snapshot is due at each look. */
  #now = 0;

  private constructor(log: FakeInputs) {
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#now += 60_000;
      for (const { hosted } of this.#partitions.values()) hosted.look();
    }, 1);
  }

  /** Begins all partitions at their snapshots. */
  static async start(
    log: FakeInputs,
    { processor, states, write }: { processor: Fold; states: States; write: (records: readonly AbsoluteRecord[]) => Promise<void> },
  ): Promise<FakeHost> {
    const host = new FakeHost(log);
    const logger = pino({ level: 'silent' });
    const numbers = log.partitions.map((_records, partition) => partition);
    const loaded = await states.load(numbers, { signal: new AbortController().signal });
    for (const partition of numbers) {
      const writes = new WriteQueue({ write, log: logger, retryMs: 1 });
      const own = loaded.get(partition);
      const snapshots = new Map(own === undefined ? [] : [[processor.name, own]]);
      const hosted = new HostedPartition({
        ...{ partition, hosted: [{ processor, states }], snapshots, writes, log: logger },
        now: () => host.#now,
      });
      host.#partitions.set(partition, { hosted, writes });
    }
    return host;
  }

  /** Takes at most so many records of a partition; gives whether there were any. */
  read(partition: number, count: number): boolean {
    const hosted = this.#partitions.get(partition)?.hosted;
    const from = hosted?.next ?? 0;
    const inputs = this.#log.partitions[partition]?.slice(from, from + count) ?? [];
    for (const input of inputs) hosted?.take(input);
    return inputs.length > 0;
  }

  /** Nothing is written any more. */
  kill(): void {
    clearInterval(this.#timer);
    for (const { writes } of this.#partitions.values()) writes.end();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const { hosted, writes } of this.#partitions.values()) {
      hosted.look();
      await Promise.race([hosted.finish(), new Promise((resolve) => setTimeout(resolve, 100))]);
      writes.end();
    }
  }
}
