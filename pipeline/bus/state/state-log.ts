import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Service } from '../../core/service.ts';
import { encodeSnapshot, SnapshotReader, type Remains, type Snapshot, type StateRecord } from './state-snapshot.ts';
import type { StateTopic } from './state-topic.ts';

export type { Snapshot } from './state-snapshot.ts';

export type StateLogOptions = {
  readonly topic: StateTopic;
  readonly log: Logger;
  /** Of one state; a larger one is refused. */
  readonly maxBytes?: number;
};

export type LoadOptions = {
  /** Ends the loading, which rejects then. There is no deadline. */
  readonly signal: AbortSignal;
  /** Called with the number of records that have been read so far. */
  readonly onProgress?: (records: number) => void;
};

/** Of one state; a larger one is refused. */
export const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** Chunks that are sent together: 1 MiB. */
const CHUNKS_AT_ONCE = 2;
const TOMBSTONES_AT_ONCE = 1000;

/**
 * The snapshots of a processor, on its own topic (docs/topics.md, docs/adr/0023-one-reader-for-every-processor.md): chunks, and a manifest
 * last. Two owners of a partition may write at the same time; the furthest whole snapshot counts, whichever of them wrote it.
 */
export class StateLog implements Service {
  readonly name: string;
  readonly #topic: StateTopic;
  readonly #log: Logger;
  readonly #maxBytes: number;
  /** The snapshots that are known to lie on the topic, of each partition, by their ids. */
  readonly #known = new Map<number, Map<string, Remains>>();
  /** Resolves when the last save of a partition is over. */
  readonly #saving = new Map<number, Promise<void>>();

  constructor({ topic, log, maxBytes = MAX_STATE_BYTES }: StateLogOptions) {
    this.name = `states ${topic.name}`;
    this.#topic = topic;
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  /** It connects when there is something to do. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return this.#topic.close();
  }

  /** The furthest snapshot of each of these partitions that has one. Reads no others. */
  async load(partitions: readonly number[], { signal, onProgress = () => undefined }: LoadOptions): Promise<Map<number, Snapshot>> {
    const readers = new Map(partitions.map((partition) => [partition, new SnapshotReader(this.#maxBytes)]));
    let count = 0;
    await this.#topic.read(
      partitions,
      (partition, records) => {
        for (const record of records) readers.get(partition)?.take(record);
        count += records.length;
        onProgress(count);
      },
      signal,
    );
    const snapshots = new Map<number, Snapshot>();
    for (const [partition, reader] of readers) {
      const snapshot = await reader.furthest();
      if (snapshot !== null) snapshots.set(partition, snapshot);
      this.#known.set(partition, new Map(reader.remains));
    }
    return snapshots;
  }

  /**
   * Resolves when the snapshot is on the topic whole (acks=all); those of this partition that are not further are removed then. Where it
   * rejects, it may be there or not, and what was there before still is.
   */
  save(partition: number, next: number, bytes: Buffer): Promise<void> {
    const before = this.#saving.get(partition) ?? Promise.resolve();
    // one after the other: what the other has begun would be taken for the remains of an owner that was killed
    const saved = before.then(() => this.#save(partition, { next, bytes }));
    this.#saving.set(
      partition,
      saved.catch(() => undefined),
    );
    return saved;
  }

  async #save(partition: number, snapshot: Snapshot): Promise<void> {
    const { next, bytes } = snapshot;
    if (bytes.length > this.#maxBytes)
      throw new Error(
        `The state of partition ${String(partition)} has ${String(bytes.length)} bytes; at most ${String(this.#maxBytes)} can be saved.`,
      );
    const known = this.#known.get(partition) ?? new Map<string, Remains>();
    this.#known.set(partition, known);
    const id = randomUUID();
    const { chunks, manifest } = await encodeSnapshot(id, snapshot);
    const keys = new Set([...chunks, manifest].map(({ key }) => key));
    known.set(id, { next: null, keys });
    for (let at = 0; at < chunks.length; at += CHUNKS_AT_ONCE) await this.#topic.append(partition, chunks.slice(at, at + CHUNKS_AT_ONCE));
    await this.#topic.append(partition, [manifest]);
    known.set(id, { next, keys });
    await this.#remove(partition, id, next);
  }

  /** Removes the other snapshots that are not further, and what is left of those that are not whole. What fails is done after the next save. */
  async #remove(partition: number, own: string, next: number): Promise<void> {
    const known = this.#known.get(partition) ?? new Map<string, Remains>();
    const old = [...known].filter(([id, remains]) => id !== own && (remains.next === null || remains.next <= next));
    const tombstones = old.flatMap(([, { keys }]) => [...keys].map((key): StateRecord => ({ key, value: null })));
    try {
      for (let at = 0; at < tombstones.length; at += TOMBSTONES_AT_ONCE)
        await this.#topic.append(partition, tombstones.slice(at, at + TOMBSTONES_AT_ONCE));
      for (const [id] of old) known.delete(id);
    } catch (error) {
      this.#log.warn({ err: error, topic: this.#topic.name, partition }, 'Removing old snapshots failed; retrying after the next one.');
    }
  }
}
