import type { Logger } from 'pino';
import type { LogReader } from '../bus/log-reader.ts';
import type { CompactedLog, CompactedRecord } from '../core/compacted-log.ts';
import { repeat } from '../core/repeat.ts';
import type { Service } from '../core/service.ts';
import type { Processor } from './processor.ts';

export type RunnerOptions<State extends { readonly next: number }> = {
  readonly processor: Processor<State>;
  readonly reader: Pick<LogReader, 'start' | 'stop'>;
  /** The compacted topic of the snapshots. */
  readonly snapshots: CompactedLog;
  readonly logger: Logger;
  /** Milliseconds between two looks at what has changed. */
  readonly everyMs?: number;
};

/**
 * Runs a processor: begins each partition at the furthest snapshot, folds what comes, and publishes the states that have changed.
 * Snapshots are absolute, so a process that was replaced does no harm: of two of the same partition the one that is further counts,
 * here as for every other reader; and one that overtook it on the topic is put right, since compaction keeps the last.
 */
export class ProcessorRunner<State extends { readonly next: number }> implements Service {
  readonly name: string;
  readonly #options: RunnerOptions<State>;
  /** The furthest state known of each partition. */
  readonly #states = new Map<number, State>();
  /** How far the last snapshot on the topic is, by partition. */
  readonly #onTopic = new Map<number, number>();
  readonly #stop = new AbortController();
  #publishing: Promise<void> | null = null;

  constructor(options: RunnerOptions<State>) {
    this.#options = options;
    this.name = `processor ${options.processor.name}`;
  }

  async start(): Promise<void> {
    const { processor, reader, snapshots, everyMs = 500 } = this.#options;
    await snapshots.readAll(this.#onSnapshot);
    await snapshots.follow(this.#onSnapshot);
    await reader.start({
      nextOf: (partition) => this.#states.get(partition)?.next ?? null,
      take: (batch) => this.#states.set(batch.partition, processor.fold(this.#states.get(batch.partition) ?? processor.empty(), batch)),
    });
    this.#publishing = repeat(everyMs, this.#stop.signal, () => this.#publishChanged());
  }

  /** Leaves the group, publishes what was read, closes the topic. */
  async stop(): Promise<void> {
    await this.#options.reader.stop();
    this.#stop.abort();
    await this.#publishing;
    await this.#options.snapshots.stop();
  }

  async #publishChanged(): Promise<void> {
    const { processor, snapshots, logger } = this.#options;
    try {
      const changed = [...this.#states]
        .map(([partition, state]) => ({ partition, state, next: state.next }))
        .filter(({ partition, next }) => next !== (this.#onTopic.get(partition) ?? 0));
      if (changed.length === 0) return;
      // together: each request would be read by every node by itself
      await snapshots.appendAll(changed.map(({ partition, state }) => processor.encode(partition, state)));
      for (const { partition, next } of changed) this.#onTopic.set(partition, next);
    } catch (error) {
      logger.warn({ err: error, processor: processor.name }, 'A snapshot could not be published; it is tried again.');
    }
  }

  readonly #onSnapshot = ({ key, value }: CompactedRecord): void => {
    const decoded = this.#options.processor.decode(key, value);
    if (decoded === null) return;
    const { partition, state } = decoded;
    this.#onTopic.set(partition, state.next);
    if (state.next > (this.#states.get(partition)?.next ?? 0)) this.#states.set(partition, state);
  };
}
