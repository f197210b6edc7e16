import type { EachBatchPayload, Kafka, KafkaMessage } from '../../bus/connection/kafka.ts';
import type { Logger } from 'pino';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { GroupMember } from '../../bus/consumer/group-member.ts';
import { repeat } from '../../core/repeat.ts';
import type { Service } from '../../core/service.ts';
import { HostedPartition, type Hosted, type ProcessorStatus, type Snapshot } from './hosted-partition.ts';
import type { Input } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import type { Setting } from '../../core/setting.ts';
import { SnapshotBudget } from './snapshot-budget.ts';
import { WriteQueue } from './write-queue.ts';

export type ProcessorHostOptions<In extends Position = Input> = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  readonly groupId: string;
  /** In the order in which they take a record. */
  readonly hosted: readonly Hosted<In>[];
  readonly inputOf: (partition: number, message: KafkaMessage) => In;
  readonly writer: { write(records: readonly AbsoluteRecord[]): Promise<void>; close(): Promise<void> };
  /** The record that advances the time of a partition, and maybe a setting. */
  readonly tick: (partition: number, setting?: Setting) => AbsoluteRecord;
  /** The settings of processors, as far as they are known by now. */
  readonly settings?: () => readonly Setting[];
  /** The budget for snapshots, which all hosts of a process share. Default: one of its own. */
  readonly budget?: SnapshotBudget;
  /** Bytes that a fetch waits for, half a second at most. Default: 256 KiB, since few large fetches cost less than many small ones. */
  readonly minBytes?: number;
  readonly onCrash: (error: Error) => void;
  readonly onFold?: (processor: string, ms: number, input: In) => void;
  /** Monotonic, and since the epoch; milliseconds. */
  readonly now?: () => number;
  readonly clock?: () => number;
};

/** How often what is new is written, and snapshots and ticks are looked for. Milliseconds. */
const LOOK_MS = 500;
/** A partition without a record for so long gets a tick. Milliseconds. */
const QUIET_MS = 10_000;
/** No more is read while so much of a partition waits to be written. Bytes. */
const MOST_WAITING = 8 * 1024 * 1024;
/** Settings that a partition lacks are appended again after so long, and where it is behind, so that it may come to them, after so long. Milliseconds. */
const REPORT_AGAIN_MS = 10_000;
const REPORT_BEHIND_MS = 60_000;
const PROGRESS_EVERY = 100_000;
/** A stop waits no longer for the last snapshots, without which a little more is read again. Milliseconds. */
const STOP_MS = 8000;
/** What a fetch waits for. Bytes. */
const MIN_BYTES = 256 * 1024;
/** So long it folds before the event loop turns. Milliseconds. */
const TURN_MS = 100;

/** A partition that belongs to this process. */
type Assigned<In extends Position> = {
  readonly opened: Promise<HostedPartition<In>>;
  readonly writes: WriteQueue;
  /** Once it is opened. */
  hosted: HostedPartition<In> | null;
  /** The offset that a seek requested. */
  sought: number | null;
  /** Records of the log behind those that were read. */
  lag: number;
  tickedAt: number;
  /** When settings were appended last. */
  publishedAt: number;
};

/**
 * Reads a topic once for every processor (docs/adr/0023-one-reader-for-every-processor.md), sharing its partitions with the other hosts. The
 * group's offsets are not used: where to begin is in the snapshots.
 */
export class ProcessorHost<In extends Position = Input> implements Service {
  readonly name = 'processor host';
  readonly #options: ProcessorHostOptions<In>;
  readonly #member: GroupMember;
  readonly #now: () => number;
  readonly #stop = new AbortController();
  #assigned = new Map<number, Assigned<In>>();
  /** Ends the loading of the assignment. */
  #loading = new AbortController();
  #looking: Promise<void> | null = null;
  readonly #budget: SnapshotBudget;

  constructor(options: ProcessorHostOptions<In>) {
    this.#options = options;
    this.#budget = options.budget ?? new SnapshotBudget();
    this.#now = options.now ?? ((): number => performance.now());
    const { kafka, log, topic, groupId, onCrash } = options;
    this.#member = new GroupMember({
      ...{ kafka, log, groupId, topic, onCrash },
      fetch: {
        minBytes: options.minBytes ?? MIN_BYTES,
        maxWaitTimeInMs: 500,
        maxBytesPerPartition: 1024 * 1024,
        maxBytes: 4 * 1024 * 1024,
      },
      onAssigned: (partitions) => {
        this.#assign(partitions);
      },
      onLost: () => {
        this.#abandon();
      },
      onBatch: (payload) => this.#batch(payload),
    });
  }

  /** True while this process is a member of the group. */
  get joined(): boolean {
    return this.#member.joined;
  }

  /** What every processor is doing in every partition of this process. */
  get status(): (ProcessorStatus & { readonly lag: number })[] {
    return [...this.#assigned.values()].flatMap(({ hosted, lag }) => hosted?.status.map((status) => ({ ...status, lag })) ?? []);
  }

  async start(): Promise<void> {
    this.#looking = repeat(LOOK_MS, this.#stop.signal, () => {
      this.#look();
      return Promise.resolve();
    });
    await this.#member.start();
  }

  /** Leaves the group, and saves what was folded. */
  async stop(): Promise<void> {
    const mine = [...this.#assigned.values()];
    this.#assigned = new Map();
    this.#loading.abort();
    await this.#member.leave();
    this.#stop.abort();
    await this.#looking;
    const finished = Promise.allSettled(mine.map(({ hosted }) => hosted?.finish() ?? Promise.resolve()));
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    end(mine);
    await this.#options.writer.close();
  }

  #assign(partitions: readonly number[]): void {
    this.#abandon();
    const { log, hosted, writer, onFold } = this.#options;
    const loading = (this.#loading = new AbortController());
    const snapshots = this.#load(partitions, loading.signal);
    this.#assigned = new Map(
      partitions.map((partition) => {
        const writes = new WriteQueue({ write: (records) => writer.write(records), log });
        const opened = snapshots.then((all) => {
          const own = new Map([...all].flatMap(([name, of]) => (of.has(partition) ? [[name, of.get(partition) as Snapshot]] : [])));
          assigned.hosted = new HostedPartition<In>({
            ...{ partition, hosted, snapshots: own, writes, budget: this.#budget, log, now: this.#now },
            ...(onFold === undefined ? {} : { onFold }),
          });
          return assigned.hosted;
        });
        // the reader of the partition gets the error
        opened.catch(() => undefined);
        const assigned: Assigned<In> = { opened, writes, hosted: null, sought: null, lag: 0, tickedAt: -Infinity, publishedAt: -Infinity };
        return [partition, assigned];
      }),
    );
  }

  /** The last snapshots of these partitions, by the names of the processors. */
  async #load(partitions: readonly number[], signal: AbortSignal): Promise<Map<string, ReadonlyMap<number, Snapshot>>> {
    const { hosted, log } = this.#options;
    const loaded = await Promise.all(
      hosted.map(async ({ processor: { name }, states }) => {
        let logged = 0;
        const onProgress = (records: number): void => {
          if (records < logged + PROGRESS_EVERY) return;
          logged = records;
          log.info({ processor: name, records }, 'Reading snapshots.');
        };
        return [name, await states.load(partitions, { signal, onProgress })] as const;
      }),
    );
    return new Map(loaded);
  }

  /** Forgets what may belong to another process, which begins at the last snapshot. */
  #abandon(): void {
    this.#loading.abort();
    end(this.#assigned.values());
    this.#assigned = new Map();
  }

  async #batch({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const { partition, messages } = batch;
    const assigned = this.#assigned.get(partition);
    if (assigned === undefined) return;
    const isMine = (): boolean => this.#assigned.get(partition) === assigned;
    const hosted = await this.#beating(assigned.opened, heartbeat);
    while (isMine() && hosted.isBehind) await this.#beating(soon(), heartbeat);
    if (!isMine() || this.#isElsewhere(assigned, hosted, messages, Number(batch.highWatermark))) return;
    let began = this.#now();
    for (const message of messages) {
      if (Number(message.offset) < hosted.next) continue;
      if (this.#now() - began >= TURN_MS) {
        // others want to work as well
        await this.#beating(turn(), heartbeat);
        while (isMine() && hosted.isBehind) await this.#beating(soon(), heartbeat);
        if (!isMine()) return;
        began = this.#now();
      }
      hosted.take(this.#options.inputOf(partition, message));
    }
    resolveOffset(batch.lastOffset());
    assigned.lag = Math.max(0, Number(batch.highWatermark) - 1 - Number(batch.lastOffset()));
    while (isMine() && (hosted.waiting > MOST_WAITING || hosted.isBehind)) await this.#beating(soon(), heartbeat);
    await heartbeat();
  }

  /**
   * True for a batch that is not what comes next; a seek then requests that. An offset that is not there when a seek requests it does not
   * exist: it has expired, or the log was truncated.
   */
  #isElsewhere(assigned: Assigned<In>, hosted: HostedPartition<In>, messages: readonly KafkaMessage[], end: number): boolean {
    const { next, partition } = hosted;
    const [first, last] = [messages[0], messages.at(-1)].map((message) => Number(message?.offset ?? next)) as [number, number];
    if (first <= next && last >= next) return false;
    if (assigned.sought !== next) {
      assigned.sought = next;
      this.#member.seek(partition, next);
      return true;
    }
    const { log } = this.#options;
    if (last < next) {
      log.error({ partition, next, end }, 'Log truncation: the log ends before the offset that processors have counted.');
      hosted.skipTo(first);
    } else if (next > 0) log.error({ partition, next, first }, 'Records have expired before processors read them.');
    return false;
  }

  async #beating<T>(promise: Promise<T>, heartbeat: () => Promise<void>): Promise<T> {
    const timer = setInterval(() => {
      // a heartbeat that fails shows at the next one that is waited for
      heartbeat().catch(() => undefined);
    }, 1000);
    try {
      return await promise;
    } finally {
      clearInterval(timer);
    }
  }

  /** Appends the settings that a partition has not had yet. Another owner may do so too: what is not new is passed over. */
  #report(partition: number, assigned: Assigned<In>, hosted: HostedPartition<In>): void {
    const { settings, tick } = this.#options;
    const now = this.#now();
    if (settings === undefined || now - assigned.publishedAt < (assigned.lag === 0 ? REPORT_AGAIN_MS : REPORT_BEHIND_MS)) return;
    const lacking = hosted.lacking(settings());
    if (lacking.length === 0) return;
    assigned.publishedAt = now;
    assigned.writes.add(lacking.map((setting) => tick(partition, setting)));
  }

  #look(): void {
    const { clock = Date.now, tick } = this.#options;
    for (const [partition, assigned] of this.#assigned) {
      const { hosted, writes } = assigned;
      if (hosted === null) continue;
      hosted.look();
      this.#report(partition, assigned, hosted);
      const isQuiet = hosted.appendedAt >= 0 && assigned.lag === 0 && clock() - hosted.appendedAt >= QUIET_MS;
      if (!isQuiet || this.#now() - assigned.tickedAt < QUIET_MS) continue;
      assigned.tickedAt = this.#now();
      writes.add([tick(partition)]);
    }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** Nothing is written of these partitions any more. */
function end<In extends Position>(partitions: Iterable<Assigned<In>>): void {
  for (const { writes, hosted } of partitions) {
    writes.end();
    hosted?.abandon();
  }
}
