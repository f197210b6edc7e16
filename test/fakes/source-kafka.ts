import type { EachBatchPayload, Kafka } from 'kafkajs';

type Committed = { readonly partition: number; readonly offset: string };

/** A Kafka of a user, whose consumers are given batches by the test. */
export class SourceKafka {
  readonly committed: Committed[] = [];
  readonly resolved: string[] = [];
  /** How consumers were made and subscribed. */
  readonly wanted: object[] = [];
  isAway = false;
  /** The group says so at the next heartbeat. */
  isRebalancing = false;
  failingCommits = 0;
  #listeners = new Map<string, (event: { payload: object }) => void>();
  #eachBatch: ((payload: EachBatchPayload) => Promise<void>) | null = null;

  /** The client. */
  get kafka(): Kafka {
    const consumer = (config: object): object => {
      this.wanted.push(config);
      return {
        events: { GROUP_JOIN: 'join', HEARTBEAT: 'beat', REBALANCING: 'rebalancing', CRASH: 'crash', FETCH_START: 'start', FETCH: 'fetch' },
        on: (name: string, listener: (event: { payload: object }) => void) => this.#listeners.set(name, listener),
        connect: () => (this.isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
        subscribe: (wanted: object) => {
          this.wanted.push(wanted);
          return Promise.resolve();
        },
        run: ({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }) => {
          this.#eachBatch = eachBatch;
          this.assign();
          return Promise.resolve();
        },
        pause: () => undefined,
        disconnect: () => Promise.resolve(),
      };
    };
    return { consumer } as unknown as Kafka;
  }

  get isRead(): boolean {
    return this.#eachBatch !== null;
  }

  /** The group has been joined again. */
  assign(): void {
    this.#listeners.get('join')?.({ payload: { memberAssignment: { orders: [0, 1] } } });
  }

  /** Gives the values as records of a partition, from an offset on. */
  give(partition: number, from: number, values: readonly (string | Buffer | null)[], more = 0): Promise<void> {
    const messages = values.map((value, index) => ({
      offset: String(from + index),
      value: typeof value === 'string' ? Buffer.from(value) : value,
    }));
    const last = from + values.length - 1;
    const payload = {
      batch: { topic: 'orders', partition, messages, highWatermark: String(last + 1 + more), lastOffset: () => String(last) },
      resolveOffset: (offset: string) => this.resolved.push(offset),
      heartbeat: () => (this.isRebalancing ? Promise.reject(new Error('rebalancing')) : Promise.resolve()),
      commitOffsetsIfNecessary: ({ topics }: { topics: { partitions: Committed[] }[] }) => {
        if (this.failingCommits-- > 0) return Promise.reject(new Error('no coordinator'));
        this.committed.push(
          ...topics.flatMap(({ partitions }) => partitions.map(({ partition: of, offset }) => ({ partition: of, offset }))),
        );
        return Promise.resolve();
      },
    };
    if (this.#eachBatch === null) throw new Error('Nobody reads.');
    return this.#eachBatch(payload as unknown as EachBatchPayload);
  }
}
